import { flushCompileCache } from 'node:module';
import { hashKey } from '../../server/store/keys.ts';
import { openStore } from '../../server/store/open-store.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import { byHand, changeOf, type NodeOptions, openNode } from './node.ts';

export interface ChildOptions extends Omit<NodeOptions, 'token'> {
  store: StoreOptions;
  /** Default: a new one, with `quota`. */
  token?: NodeOptions['token'];
  quota: number;
  /** Tasks to submit, all at once. */
  prompts: string[];
  /** An operator ends by hand what does not end, and cancels what waits. */
  operated?: boolean;
}

// A gateway of its own process. It says on stdout what it was told is done, and ends only by being killed.
const options = JSON.parse(process.argv[2] ?? '') as ChildOptions;
const tell = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`);
const store = await openStore(options.store);
const token = options.token ?? (await makeToken());
tell('token', token.id, token.userId);

// One that is killed would not leave what it has compiled to the next.
flushCompileCache();

const { tasks, order, start } = openNode(store, { ...options, token });
await start();
await Promise.all(
  options.prompts.map(async (prompt) => {
    const { task } = await tasks.submit(order(prompt));
    tell('submitted', task.id);
    if (options.operated === true) {
      if (prompt === 'hold') await tasks.cancelAny(task.id, changeOf(task.id));
      else await tasks.endManually(task.id, () => ({ end: byHand, change: changeOf(task.id) }));
      tell('operated', task.id);
      return;
    }
    if (prompt !== 'hold') return;
    await tasks.cancel({ id: task.id, userId: token.userId, format: 'videos' });
    tell('canceled', task.id);
  }),
);

async function makeToken() {
  const user = await store.run('createUser', { name: 'someone', group: 'default', now: 1 });
  const key = { name: 'a key', keyHash: hashKey('key'), keyHint: 'sk', remainQuota: options.quota, now: 1 };
  return store.run('createToken', { userId: user.id, ...key });
}
