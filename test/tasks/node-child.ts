import { flushCompileCache } from 'node:module';
import { hashKey } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { changeOf, manualEnd, type NodeOptions, openNode } from './node.ts';

export interface ChildOptions extends Omit<NodeOptions, 'token'> {
  store: StoreOptions;
  /** Default: a new key with `quota`. */
  token?: NodeOptions['token'];
  quota: number;
  /** Tasks to submit concurrently. */
  prompts: string[];
  /** An operator ends each task, and cancels those with the prompt `hold`. */
  manual?: boolean;
}

// A gateway in its own process. It prints what it has acknowledged, and ends only by being killed.
const options = JSON.parse(process.argv[2] ?? '') as ChildOptions;
const print = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`);
const store = await openStore(options.store);
const token = options.token ?? (await makeToken());
print('token', token.id, token.userId);

// A killed process would not leave its compile cache to the next one.
flushCompileCache();

const { tasks, order, start } = openNode(store, { ...options, token });
await start();
await Promise.all(
  options.prompts.map(async (prompt) => {
    const { task } = await tasks.submit(order(prompt));
    print('submitted', task.id);
    if (options.manual === true) {
      if (prompt === 'hold') await tasks.cancelAny(task.id, changeOf(task.id));
      else await tasks.endManually(task.id, () => ({ end: manualEnd, change: changeOf(task.id) }));
      print('manual', task.id);
      return;
    }
    if (prompt !== 'hold') return;
    await tasks.cancel({ id: task.id, userId: token.userId, format: 'videos' });
    print('canceled', task.id);
  }),
);

async function makeToken() {
  const user = await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
  const key = { name: 'a key', keyHash: hashKey('key'), keyHint: 'sk', remainQuota: options.quota, now: 1 };
  return store.run('createToken', { userId: user.id, ...key });
}
