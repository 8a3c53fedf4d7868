/** What tells a held lease from those before and after it. */
export interface LeaseClaim {
  readonly name: string;
  /** Opaque; another one each time the lease is taken. */
  readonly turn: string;
}

/** An exclusive right over all instances on a store. */
export interface HeldLease {
  /** For commits that are made under the lease: `WriteOptions.lease`. */
  readonly claim: LeaseClaim;

  /** Holds it for another `ttlMs` from now. Resolves to false when it has run out meanwhile, even if it is free. */
  renew(): Promise<boolean>;

  /** Gives it up. Idempotent; does nothing when it was lost. */
  release(): Promise<void>;
}

export interface LeaseRequest {
  /** Such as `sync push listings`. */
  readonly name: string;
  /** The holder, such as a run id, for the message to those who wait. */
  readonly holder: string;
  /** Lifetime without `renew`. D-4.8. */
  readonly ttlMs: number;
}

export interface LeaseRefusal {
  readonly heldBy: string;
}

/**
 * Leases by name. All instances that share a store measure by one clock: that of the store's server where it has one,
 * otherwise that of the machine they share, which tests set by the `Clock` they open the store with. `acquire` and both
 * methods of a lease throw `store_unavailable`.
 */
export interface LeaseStore {
  /**
   * Takes the lease when it is free or has run out; otherwise resolves to the present holder's name, also when that is
   * the same as the request's. Of several at once exactly one gets it.
   */
  acquire(request: LeaseRequest): Promise<HeldLease | LeaseRefusal>;
}
