import { Ledger } from '../../server/quota/ledger.ts';
import { openStore } from '../../server/store/open-store.ts';
import { logEntry, makeToken } from './ledger.ts';

// Runs commands until it is killed, and prints one line on stdout for each acknowledged command.
const store = await openStore(JSON.parse(process.argv[2] ?? '') as Parameters<typeof openStore>[0]);
await store.run('recordHeartbeat', { id: 'child', heartbeat: 0 });
const ledger = new Ledger(store, 'child');
const token = await makeToken(store, { remainQuota: 1_000_000_000 });
const tell = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`);
tell('token', token.id);

let requests = 0;
async function customer(): Promise<never> {
  for (;;) {
    requests += 1;
    const [number, requestId] = [requests, `r${requests}`];
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
    tell('reserved', requestId);
    if (number % 10 === 0) continue; // left open for good
    if (number % 3 === 0) {
      await ledger.refund({ requestId, log: { ...logEntry, errorCode: 'upstream_error' } });
      tell('refunded', requestId);
    } else {
      const charged = number % 11;
      await ledger.settle({ requestId, charged, log: logEntry });
      tell('settled', requestId, charged);
    }
  }
}
await Promise.all(Array.from({ length: 16 }, customer));
