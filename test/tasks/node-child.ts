import { flushCompileCache } from 'node:module';
import { hashKey } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { acceptedTask, changeOf, inputOf, manualEnd, type NodeOptions, openNode } from './node.ts';

export interface ChildOptions extends Omit<NodeOptions, 'token'> {
  store: StoreOptions;
  /** Default: a new key with `quota`. */
  token?: NodeOptions['token'];
  quota: number;
  /** The new key draws from a wallet of `quota`. Hard budgets of the key and its user include it. */
  wallet?: boolean;
  /** The key is one of a sub-account, whose own hard budget includes it, too. Requires `wallet`. */
  account?: boolean;
  /** URL of an endpoint for events of the key and its user. */
  eventsUrl?: string;
  /** Tasks to submit concurrently. Those with the prompt `hold` are canceled, those with `wait` get an input. */
  prompts: string[];
  /** Each task has an idempotency key, so that a write of its own marks the start of its submission. */
  idempotent?: boolean;
  /** An operator ends each task, and cancels those with the prompt `hold`. */
  manual?: boolean;
}

// A gateway in its own process. It prints what it has acknowledged, and ends only by being killed.
const options = JSON.parse(process.argv[2] ?? '') as ChildOptions;
const print = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`);
const change = { userId: 1, tokenId: 1, now: 1 };
const store = await openStore(options.store);
const token = options.token ?? (await makeToken());
print('token', token.id, token.userId);

// A killed process would not leave its compile cache to the next one.
flushCompileCache();

const { tasks, order, start } = openNode(store, { ...options, token });
await start();
await Promise.all(
  options.prompts.map(async (prompt) => {
    const made = order(prompt);
    const { task } = await tasks.submit({
      ...made,
      ...(options.idempotent === true && { idempotencyKey: made.requestId }),
    });
    print('submitted', task.id);
    if (options.manual === true) {
      if (prompt === 'hold') await tasks.cancelAny(task.id, changeOf(task.id));
      else await tasks.endManually(task.id, () => ({ end: manualEnd, change: changeOf(task.id) }));
      print('manual', task.id);
      return;
    }
    if (prompt === 'wait') await tasks.resume(acceptedTask(task), inputOf(prompt));
    if (prompt !== 'hold') return;
    await tasks.cancel({ id: task.id, userId: token.userId, format: 'videos' });
    print('canceled', task.id);
  }),
);

async function makeToken() {
  const customer = await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
  const key = { name: 'a key', keyHash: hashKey('key'), keyHint: 'sk', remainQuota: options.quota, now: 1 };
  if (options.wallet === true) await grantWallet(customer.id);
  const user = options.account === true ? await makeAccount(customer.id) : customer.id;
  const made = await store.run('createToken', { userId: user, ...key });
  if (options.wallet === true) for (const userId of new Set([customer.id, user])) await limit({ userId });
  if (options.wallet === true) await limit({ tokenId: made.id });
  if (options.eventsUrl !== undefined) await subscribe(user, options.eventsUrl);
  return made;
}

async function makeAccount(parentId: number): Promise<number> {
  const account = await store.run('createSubAccount', { parentId, name: 'a sub-account', now: 1 });
  if (typeof account === 'string') throw new Error(account);
  return account.id;
}

function grantWallet(userId: number) {
  const grant = { userId, amount: options.quota, reason: 'paid', reference: 'payment' };
  return store.run('grantToWallet', { ...grant, change: { ...change, action: 'grantToWallet' } });
}

function limit(owner: { userId: number } | { tokenId: number }) {
  return store.run('createBudget', {
    owner,
    amount: options.quota,
    period: 'monthly',
    timeZone: 'UTC',
    hard: true,
    thresholds: [1],
    change: { ...change, action: 'createBudget', details: {}, now: Date.now() },
  });
}

function subscribe(userId: number, url: string) {
  return store.run('createEndpoint', {
    userId,
    url,
    description: '',
    events: ['budget.reached', 'quota.low'],
    // The first charge falls below it.
    quotaThreshold: options.quota - 1,
    secret: 'whsec_AAAA',
    now: 1,
    max: 1,
  });
}
