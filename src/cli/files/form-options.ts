// The options by which commands are told what a file is like; they go before what the registry says of the table. D-14.1.
import { type Command, InvalidArgumentError, Option } from "commander";
import { ROW_NUMBER } from "../../domain/sync/table/table.ts";
import { DATE_FORMAT, DELIMITER, ENCODING } from "../../usecases/sync/files/file-form.ts";

export function addFormOptions(command: Command): Command {
  return command
    .option("--delimiter <character>", "between the fields of a CSV file", reading(DELIMITER))
    .addOption(new Option("--decimal <sign>", "decimal sign of its numbers").choices([",", "."]))
    .option("--date-format <format>", "such as DD.MM.YYYY", reading(DATE_FORMAT))
    .option("--encoding <name>", "such as latin1", reading(ENCODING))
    .option("--path <names>", "array within a JSON file")
    .option("--number-rows", `line n is ${ROW_NUMBER} n`);
}

function reading<Value>({ read, must }: { read(text: string): Value | null; must: string }) {
  return (text: string): Value => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(`It ${must}.`);
    return value;
  };
}
