import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { Variation } from '../wire/exchange.ts';
import { statementScenarios } from './resources.ts';
import type { Scenario } from './scenario.ts';

/** A change by an admin. Runs only with `--admin`, and only on resources that the run created. */
const change =
  (name: string, of: (context: RunContext) => Promise<Variation>) =>
  (context: RunContext): Scenario[] => [
    {
      name,
      status: 200,
      variation: async () => {
        if (!context.admin) throw new Unavailable('changes by an admin run only with --admin');
        return await of(context);
      },
    },
  ];

const list = (): Scenario[] => [
  { name: '200 a list', status: 200 },
  { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } } },
];

const noChannel = (): Scenario[] => [
  {
    name: '200 a channel',
    status: 200,
    variation: async () => {
      throw new Unavailable('the kit changes no channels');
    },
  },
];

/** A new callback endpoint of the operator. */
const ofOperatorEndpoint = async ({ fixtures }: RunContext) => ({
  path: { id: await fixtures.endpoint('operator') },
});

/** Admin operations: lists, and changes to resources that the run created. */
export const adminScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  listUsers: list,
  listGroups: list,
  searchTokens: list,
  listChanges: list,
  listChannels: list,
  searchTasks: list,
  searchDeliveries: list,
  auditBooks: () => [{ name: '200 the totals', status: 200 }],
  auditPrices: () => [{ name: '200 the problems', status: 200 }],
  showFigures: () => [{ name: '200 figures', status: 200 }],
  exportLogs: (): Scenario[] => [
    {
      name: '200 JSON lines',
      status: 200,
      mediaType: 'application/jsonl',
      variation: { query: { since: lastSecond() } },
    },
    {
      name: '200 CSV',
      status: 200,
      mediaType: 'text/csv',
      variation: { query: { since: lastSecond(), format: 'csv' } },
    },
  ],
  reloadConfiguration: () => [
    { name: '200 a dry run', status: 200, variation: { query: { dry_run: 'true' } } },
  ],
  testConformance: (context): Scenario[] =>
    // A server has one run at a time, which may be this one.
    change('200 a run, or 429 during one', async () => ({ example: 'own' }))(context).map((scenario) => ({
      ...scenario,
      status: [200, 429],
    })),
  releaseGateway: change('200 outside of maintenance mode', async () => ({})),
  createUser: change('200 a user', async () => ({
    body: { name: `conformance-${crypto.randomUUID().slice(0, 8)}`, group: 'default' },
  })),
  getUser: () => [{ name: '200 the user with id 1', status: 200, variation: { path: { id: '1' } } }],
  updateUser: change('200 a user of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.user() },
    body: { disabled: false },
  })),
  listUserMembers: () => [{ name: '200 a list', status: 200, variation: { path: { id: '1' } } }],
  createUserMember: change('200 a member of a user of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.user() },
  })),
  updateUserMember: change('200 a member of a user of the run', async ({ fixtures }) => ({
    path: await fixtures.userMember(),
  })),
  deleteUserMember: change('200 a member of a user of the run', async ({ fixtures }) => ({
    path: await fixtures.userMember(),
  })),
  listUserStatements: () => [{ name: '200 the months', status: 200, variation: { path: { id: '1' } } }],
  getUserStatement: () => statementScenarios('1'),
  createUserToken: change('200 a key for a user of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.user() },
    body: { name: 'conformance', remain_quota: 0 },
  })),
  updateToken: change('200 a key of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.userToken() },
    example: 'disabled',
  })),
  revokeToken: change('200 a key of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.userToken() },
  })),
  grantQuota: change('200 quota for a key of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.userToken() },
    body: { amount: 1, reason: 'conformance' },
  })),
  openWallet: change('200 the wallet of a user of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.user() },
  })),
  grantToWallet: change('200 quota for a user of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.user() },
    body: { amount: 1, reference: crypto.randomUUID(), reason: 'conformance' },
  })),
  getWallet: ({ fixtures }): Scenario[] => [
    {
      name: '200 the wallet of a user of the run',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.walletUser() } }),
    },
  ],
  listWalletGrants: ({ fixtures }): Scenario[] => [
    {
      name: '200 the grants to a user of the run',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.walletUser() } }),
    },
  ],
  explainCharge: ({ fixtures }): Scenario[] => [
    {
      name: '200 a task of the run',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.finishedTask('native') } }),
    },
  ],
  getTask: ({ fixtures }): Scenario[] => [
    {
      name: '200 a task of the run',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.finishedTask('native') } }),
    },
  ],
  refundCall: change('200 a task of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.finishedTask('native') },
    body: { reason: 'conformance' },
  })),
  cancelTask: change('200 a task of the run', async ({ fixtures, triggers }) => ({
    path: { id: await fixtures.startCancelableTask('native', triggers) },
  })),
  settleTask: change('200 a task of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.startTask('native') },
    example: 'failed',
  })),
  testChannel: noChannel,
  enableChannel: noChannel,
  disableChannel: noChannel,
  listBudgets: list,
  createBudget: change('200 a budget of a user of the run', async ({ fixtures }) => ({
    body: { user_id: Number(await fixtures.user()), amount: 1_000, period: 'weekly' },
  })),
  updateBudget: change('200 a budget of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.budget() },
    example: 'raised',
  })),
  deleteBudget: change('200 a budget of the run', async ({ fixtures }) => ({
    path: { id: await fixtures.budget() },
  })),
  listOperatorEndpoints: () => [{ name: '200 the endpoints', status: 200 }],
  createOperatorEndpoint: change('200 an endpoint', async () => ({ example: 'endpoint' })),
  getOperatorEndpoint: change('200 an endpoint of the run', ofOperatorEndpoint),
  updateOperatorEndpoint: change('200 an endpoint of the run', async (context) => ({
    ...(await ofOperatorEndpoint(context)),
    example: 'disabled',
  })),
  deleteOperatorEndpoint: change('200 an endpoint of the run', ofOperatorEndpoint),
  rotateOperatorEndpointSecret: change('200 an endpoint of the run', ofOperatorEndpoint),
  testOperatorEndpoint: change('200 an endpoint of the run', ofOperatorEndpoint),
  listOperatorEndpointDeliveries: change('200 an endpoint of the run', ofOperatorEndpoint),
  resendOperatorEndpointDelivery: change('200 a test event of the run', async ({ fixtures }) => ({
    path: await fixtures.eventDelivery('operator'),
  })),
  resendDelivery: () => [
    {
      name: '200 a delivery',
      status: 200,
      variation: async () => {
        throw new Unavailable('the run has no callback to resend');
      },
    },
  ],
};

/** Limits an export to the last second, in Unix time, because a log can be long. */
const lastSecond = () => Math.floor(Date.now() / 1000) - 1;
