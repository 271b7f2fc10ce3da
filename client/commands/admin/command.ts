import type { Audit } from '../../admin/admin.ts';
import type { Unigate } from '../../unigate.ts';
import type { OptionDefinitions, Values } from '../option.ts';
import type { CommandHelp } from '../program.ts';
import type { Terminal } from '../terminal.ts';
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
  /** Audits the database of the environment. Only where the gateway is installed. */
  auditOffline?: OfflineAudit;
}

/** Audits the ledger without a gateway. */
export type OfflineAudit = () => Promise<Audit>;

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
