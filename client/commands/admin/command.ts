import type { Audit } from '../../admin/admin.ts';
import type { Unigate } from '../../unigate.ts';
import type { OptionDefinitions, Values } from '../option.ts';
import type { CommandHelp } from '../program.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import type { Output } from './output.ts';

/** One call of a command. */
export interface AdminCall<Options = object> {
  /** The gateway, with an admin key. Throws UsageError without a key. */
  readonly client: Unigate;
  /** The argument after the name of the command, or an empty string. */
  text: string;
  options: Values<Options>;
  output: Output;
  terminal: Terminal;
  signal: AbortSignal;
  /** Only where the gateway is installed. */
  database?: LocalDatabase;
}

/** The database of the environment, which commands use without a gateway. */
export interface LocalDatabase {
  /** Audits the ledger. */
  audit(): Promise<Audit>;
  /** Copies the SQLite database to a new file. A database of an older version is not audited. */
  backUp(file: string): Promise<{ file: string; bytes: number; audit: Audit | null }>;
  /** Copies the SQLite database to an empty PostgreSQL database. Undefined: that of DATABASE_URL. */
  migrate(
    target: string | undefined,
    signal: AbortSignal,
  ): Promise<{ rows: Readonly<Record<string, number>>; audit: Audit }>;
}

/** Returns the database of the environment. Throws UsageError where no gateway is installed. */
export function requireDatabase({ database }: Pick<AdminCall, 'database'>, name: string): LocalDatabase {
  if (database) return database;
  throw new UsageError(`${name} is available only where the gateway is installed: npm run admin.`);
}

export interface AdminCommand extends CommandHelp {
  run(call: AdminCall): Promise<void>;
}

/** Defines a command with typed options. */
export function command<const Options extends OptionDefinitions>(
  definition: Omit<AdminCommand, 'run' | 'options'> & {
    options: Options;
    run(call: AdminCall<Options>): Promise<void>;
  },
): AdminCommand {
  // The runner parses the options with this definition.
  return definition;
}
