import type { OperationId } from '../../../generated/operations.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';
import type { Variation } from '../wire/exchange.ts';
import type { Ask } from './ask.ts';

/** A change, which is made only where the run may, and only of what the run has made itself. */
const change =
  (name: string, of: (world: World) => Promise<Variation>) =>
  (world: World): Ask[] => [
    {
      name,
      status: 200,
      variation: async () => {
        if (!world.admin) throw new Unavailable('changes of an admin are tried with --admin only');
        return await of(world);
      },
    },
  ];

const list = (): Ask[] => [
  { name: '200 a list', status: 200 },
  { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } } },
];

const noChannel = (): Ask[] => [
  {
    name: '200 a channel',
    status: 200,
    variation: async () => {
      throw new Unavailable('the channels of a server are not touched');
    },
  },
];

/** What an admin sees, and changes of what the run has made. */
export const adminSuccesses: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  listUsers: list,
  listGroups: list,
  searchTokens: list,
  listChanges: list,
  listChannels: list,
  searchTasks: list,
  searchDeliveries: list,
  auditBooks: () => [{ name: '200 the sums', status: 200 }],
  showFigures: () => [{ name: '200 figures', status: 200 }],
  exportLogs: (): Ask[] => [
    {
      name: '200 JSON lines',
      status: 200,
      type: 'application/jsonl',
      variation: { query: { since: soon() } },
    },
    {
      name: '200 CSV',
      status: 200,
      type: 'text/csv',
      variation: { query: { since: soon(), format: 'csv' } },
    },
  ],
  reloadConfiguration: () => [
    { name: '200 what would change', status: 200, variation: { query: { dry_run: 'true' } } },
  ],
  createUser: change('200 a user', async () => ({
    body: { name: `conformance-${crypto.randomUUID().slice(0, 8)}`, group: 'default' },
  })),
  updateUser: change('200 a user of the run', async ({ things }) => ({
    path: { id: await things.user() },
    body: { disabled: false },
  })),
  createUserToken: change('200 a key for a user of the run', async ({ things }) => ({
    path: { id: await things.user() },
    body: { name: 'conformance', remain_quota: 0 },
  })),
  updateToken: change('200 a key of the run', async ({ things }) => ({
    path: { id: await things.userToken() },
    example: 'disabled',
  })),
  revokeToken: change('200 a key of the run', async ({ things }) => ({
    path: { id: await things.userToken() },
  })),
  grantQuota: change('200 quota for a key of the run', async ({ things }) => ({
    path: { id: await things.userToken() },
    body: { amount: 1, reason: 'conformance' },
  })),
  explainCharge: ({ things }): Ask[] => [
    {
      name: '200 a task of the run',
      status: 200,
      variation: async () => ({ path: { id: await things.finished('native') } }),
    },
  ],
  refundCall: change('200 a task of the run', async ({ things }) => ({
    path: { id: await things.finished('native') },
    body: { reason: 'conformance' },
  })),
  cancelTask: change('200 a task of the run', async ({ things, triggers }) => ({
    path: { id: await things.waiting('native', triggers) },
  })),
  settleTask: change('200 a task of the run', async ({ things }) => ({
    path: { id: await things.fresh('native') },
    example: 'failed',
  })),
  testChannel: noChannel,
  enableChannel: noChannel,
  disableChannel: noChannel,
  resendDelivery: () => [
    {
      name: '200 a delivery',
      status: 200,
      variation: async () => {
        throw new Unavailable('no callback of the run is left to be sent again');
      },
    },
  ],
};

/** The last second, in Unix time: a log can be long. */
const soon = () => Math.floor(Date.now() / 1000) - 1;
