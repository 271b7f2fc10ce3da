import { expect, test } from 'vitest';
import { RpcChannel, type RpcHandlers } from '../../server/app/workers/rpc-channel.ts';

type Methods = { double(value: number): number; never(): void };

/** Creates two channels that send each other their messages as structured clones. */
function connect(handlers: RpcHandlers<Methods>) {
  const caller = new RpcChannel<Methods, Record<never, never>>(
    (message) => callee.receive(structuredClone(message)),
    {},
  );
  const callee = new RpcChannel<Record<never, never>, Methods>(
    (message) => caller.receive(structuredClone(message)),
    handlers,
  );
  return { caller, callee };
}

const handlers: RpcHandlers<Methods> = {
  double: async (value) => {
    if (value < 0) throw new RangeError(`${value} is too small`);
    return value * 2;
  },
  never: () => new Promise(() => {}),
};

test('resolves each call with its own result and rejects with the message of an error', async () => {
  const { caller } = connect(handlers);
  const all = await Promise.allSettled([3, -1, 4].map((value) => caller.call('double', value)));
  expect(all).toMatchObject([{ value: 6 }, { reason: { message: '-1 is too small' } }, { value: 8 }]);
});

test('rejects calls after their timeout and after a close', async () => {
  const { caller } = connect(handlers);
  await expect(caller.callWithin(1, 'never')).rejects.toThrow('no response within 1 ms');
  const pending = caller.call('never');
  caller.close();
  await expect(pending).rejects.toThrow('the other process has exited');
  await expect(caller.call('double', 1)).rejects.toThrow('the other process has exited');
});

test('ignores other messages and rejects calls of unknown methods', async () => {
  const { caller, callee } = connect(handlers);
  for (const message of [undefined, null, 'cpu', 7, {}, { rpc: 'result', id: 99, method: '', value: 1 }])
    caller.receive(message);
  callee.receive({ rpc: 'request', id: 1, method: 'constructor', value: 1 });
  await expect(caller.call('double', 1)).resolves.toBe(2);
  const other = new RpcChannel<{ other(): void }, Record<never, never>>(
    (message) => end.receive(message),
    {},
  );
  const end = new RpcChannel<Record<never, never>, Methods>((message) => other.receive(message), handlers);
  await expect(other.call('other')).rejects.toThrow('unknown method other');
});
