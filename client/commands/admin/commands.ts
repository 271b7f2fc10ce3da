import { auditCommand } from './audit.ts';
import { changesCommand } from './changes.ts';
import type { AdminCommand } from './command.ts';
import { keyCommands } from './keys.ts';
import { logCommands } from './logs.ts';

/** Every command of the operator by its name. */
export const commands: Readonly<Record<string, AdminCommand>> = {
  ...keyCommands,
  ...logCommands,
  changes: changesCommand,
  audit: auditCommand,
};
