import type { AddressInfo } from 'node:net';
import { createStubServer, fixedResponse } from '../http-stub.ts';

// An upstream that accepts every task and never completes one.

const jsonResponse = (body: object) => fixedResponse('application/json', Buffer.from(JSON.stringify(body)));
const native = jsonResponse({ request_id: 'r', output: { task_id: 'n', task_status: 'RUNNING' } });
const official = jsonResponse({ id: 'o', status: 'running' });
const eta = jsonResponse({ request_id: 'e', status: 'pending' });

const server = createStubServer((head) => {
  const [, path = ''] = head.split(' ', 2);
  if (path.startsWith('/api/v3/')) return official;
  return path.startsWith('/api/') ? native : eta;
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
