/** The write concern of everything that is acknowledged: a majority has it on its disks. */
export const DURABLE = { w: "majority", j: true } as const;
