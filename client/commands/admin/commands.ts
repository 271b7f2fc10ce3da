import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { budgetCommands } from './budgets.ts';
import { changesCommand } from './changes.ts';
import { channelCommands } from './channels.ts';
import { explainCommand, refundCommand } from './charges.ts';
import type { AdminCommand } from './command.ts';
import { deliveryCommands } from './deliveries.ts';
import { endpointCommands } from './endpoints.ts';
import { figuresCommand } from './figures.ts';
import { keyCommands } from './keys.ts';
import { logCommands } from './logs.ts';
import { memberCommands } from './members.ts';
import { migrateCommand } from './migrate.ts';
import { priceCommands } from './prices.ts';
import { reconcileCommand } from './reconcile.ts';
import { releaseCommand } from './release.ts';
import { reloadCommand } from './reload.ts';
import { statementCommands } from './statements.ts';
import { taskCommands } from './tasks.ts';
import { userCommands } from './users.ts';
import { walletCommands } from './wallets.ts';

/** Descriptions of the groups of commands. */
export const groups = {
  users: 'manage users',
  members: 'manage the members of users',
  groups: 'show groups',
  wallets: 'manage the wallets of users',
  keys: 'manage keys and their quota',
  channels: 'manage channels',
  tasks: 'manage tasks',
  deliveries: 'manage callback deliveries',
  budgets: 'manage budgets of users and keys',
  prices: 'check and explain prices',
  endpoints: 'manage callback endpoints of the operator',
  logs: 'search and export the log',
  statements: 'show monthly statements of users',
} as const;

/** All admin commands by name. */
export const commands: Readonly<Record<string, AdminCommand>> = {
  ...userCommands,
  ...memberCommands,
  ...walletCommands,
  ...keyCommands,
  ...channelCommands,
  ...taskCommands,
  ...deliveryCommands,
  ...endpointCommands,
  ...budgetCommands,
  ...priceCommands,
  ...logCommands,
  ...statementCommands,
  explain: explainCommand,
  refund: refundCommand,
  figures: figuresCommand,
  changes: changesCommand,
  audit: auditCommand,
  reconcile: reconcileCommand,
  backup: backupCommand,
  migrate: migrateCommand,
  reload: reloadCommand,
  release: releaseCommand,
};
