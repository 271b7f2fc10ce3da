import { migration as accountsAndLedger } from './0001-accounts-and-ledger.ts';
import { migration as voices } from './0002-voices.ts';
import { migration as tasks } from './0003-tasks.ts';
import { migration as assets } from './0004-assets.ts';
import { migration as deliveries } from './0005-deliveries.ts';
import { migration as listsAndRetention } from './0006-lists-and-retention.ts';
import { migration as gateways } from './0007-gateways.ts';
import { migration as commits } from './0008-commits.ts';
import { migration as taskRequest } from './0009-task-request.ts';
import { migration as clips } from './0010-clips.ts';
import { migration as secrets } from './0011-secrets.ts';
import { migration as keys } from './0012-keys.ts';
import { migration as logSearch } from './0013-log-search.ts';
import { migration as verificationSessions } from './0014-verification-sessions.ts';
import { migration as retention } from './0015-retention.ts';
import { migration as sharedAllowance } from './0016-shared-allowance.ts';
import { migration as adminArea } from './0017-admin-area.ts';
import { migration as keyLimits } from './0018-key-limits.ts';
import { migration as figures } from './0019-figures.ts';
import { migration as operatorsTasks } from './0020-operators-tasks.ts';
import { migration as channelStates } from './0021-channel-states.ts';
import { migration as taskTraces } from './0023-task-traces.ts';
import { migration as socketPlaces } from './0024-socket-places.ts';
import { migration as verificationRetention } from './0025-verification-retention.ts';
import { migration as quotaLeases } from './0026-quota-leases.ts';
import { migration as logCounts } from './0027-log-counts.ts';
import { migration as tasksFromLeases } from './0028-tasks-from-leases.ts';
import { migration as logDay } from './0030-log-day.ts';
import { migration as logUndated } from './0031-log-undated.ts';
import { migration as logByDay } from './0032-log-by-day.ts';
import { migration as announcements } from './0033-announcements.ts';
import { migration as logCountsByDay } from './0034-log-counts-by-day.ts';
import { migration as adminKeys } from './0035-admin-keys.ts';
import { migration as keyLineage } from './0036-key-lineage.ts';
import { migration as logEvidence } from './0037-log-evidence.ts';
import { migration as priceHistory } from './0038-price-history.ts';
import { migration as debts } from './0039-debts.ts';
import { migration as deliveryUsers } from './0040-delivery-users.ts';
import { migration as refundsAndLogTimes } from './0041-refunds-and-log-times.ts';
import type { Migration } from './migration.ts';

/**
 * Every migration in order. Append only: a name that has run somewhere is never changed or removed. One that is `alone`
 * has a transaction of its own, since what it locks, or how long it takes, must not go together with others.
 */
export const migrations: readonly { name: string; run: Migration; alone?: true }[] = [
  { name: '0001-accounts-and-ledger', run: accountsAndLedger },
  { name: '0002-voices', run: voices },
  { name: '0003-tasks', run: tasks },
  { name: '0004-assets', run: assets },
  { name: '0005-deliveries', run: deliveries },
  { name: '0006-lists-and-retention', run: listsAndRetention },
  { name: '0007-gateways', run: gateways },
  { name: '0008-commits', run: commits },
  { name: '0009-task-request', run: taskRequest },
  { name: '0010-clips', run: clips },
  { name: '0011-secrets', run: secrets },
  { name: '0012-keys', run: keys },
  { name: '0013-log-search', run: logSearch },
  { name: '0014-verification-sessions', run: verificationSessions },
  { name: '0015-retention', run: retention },
  { name: '0016-shared-allowance', run: sharedAllowance },
  { name: '0017-admin-area', run: adminArea },
  { name: '0018-key-limits', run: keyLimits },
  { name: '0019-figures', run: figures },
  { name: '0020-operators-tasks', run: operatorsTasks },
  { name: '0024-socket-places', run: socketPlaces },
  { name: '0021-channel-states', run: channelStates },
  { name: '0025-verification-retention', run: verificationRetention },
  { name: '0023-task-traces', run: taskTraces },
  { name: '0026-quota-leases', run: quotaLeases },
  { name: '0027-log-counts', run: logCounts },
  { name: '0028-tasks-from-leases', run: tasksFromLeases },
  { name: '0030-log-day', run: logDay, alone: true },
  { name: '0031-log-undated', run: logUndated, alone: true },
  { name: '0032-log-by-day', run: logByDay, alone: true },
  { name: '0033-announcements', run: announcements, alone: true },
  { name: '0034-log-counts-by-day', run: logCountsByDay, alone: true },
  { name: '0035-admin-keys', run: adminKeys, alone: true },
  { name: '0036-key-lineage', run: keyLineage, alone: true },
  { name: '0037-log-evidence', run: logEvidence, alone: true },
  { name: '0040-delivery-users', run: deliveryUsers, alone: true },
  { name: '0039-debts', run: debts, alone: true },
  { name: '0038-price-history', run: priceHistory, alone: true },
  { name: '0041-refunds-and-log-times', run: refundsAndLogTimes, alone: true },
];
