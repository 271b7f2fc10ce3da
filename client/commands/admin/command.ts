import type { Audit } from '../../admin/admin.ts';
import type { Unigate } from '../../unigate.ts';
import type { Terminal } from '../terminal.ts';
import type { AdminOptions, Values } from './options.ts';
import type { Output } from './output.ts';

/** One call of a command. */
export interface AdminCall<Options = object> {
  /** The gateway, with an admin key. Throws UsageError where no key was given. */
  readonly client: Unigate;
  /** What stands after the name of the command; empty where nothing does. */
  text: string;
  options: Values<Options>;
  output: Output;
  terminal: Terminal;
  signal: AbortSignal;
  /** Proves the books of the database that the environment names; only where the gateway is installed. */
  auditOffline?: OfflineAudit;
}

/** Reads books without a gateway. */
export type OfflineAudit = () => Promise<Audit>;

export interface AdminCommand {
  /** What stands after its name, in capitals. */
  takes?: string;
  does: string;
  options: AdminOptions;
  /** Command lines without the program's name. */
  examples: readonly string[];
  run(call: AdminCall): Promise<void>;
}

/** A command, whose options are read before it runs. */
export function command<const Options extends AdminOptions>(
  definition: Omit<AdminCommand, 'run' | 'options'> & {
    options: Options;
    run(call: AdminCall<Options>): Promise<void>;
  },
): AdminCommand {
  // The runner reads the options by this very table.
  return definition;
}
