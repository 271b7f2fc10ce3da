import { request } from 'node:http';
import { request as requestSecurely } from 'node:https';

/**
 * The health check of a container: exits with 0 if `GET /healthz` of the gateway with the same `HOST`, `PORT` and
 * `TLS_CERT` returns 200. It needs no shell and no other program.
 */
const timeoutMs = 3_000;

const { HOST, PORT, TLS_CERT } = process.env;
const anyAddress: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const host = HOST || '127.0.0.1';
const address = {
  host: anyAddress[host] ?? host,
  port: PORT || '8080',
  path: '/healthz',
  timeout: timeoutMs,
};

function fail(reason: string): never {
  console.error(`GET /healthz at ${address.host}, port ${address.port}: ${reason}.`);
  process.exit(1);
}

const sent = TLS_CERT
  ? // The certificate names another host. Clients verify it; the probe only tests that the process responds.
    requestSecurely({ ...address, rejectUnauthorized: false })
  : request(address);
sent.on('response', ({ statusCode }) => {
  if (statusCode !== 200) fail(`status ${statusCode}`);
  process.exit(0);
});
sent.on('error', ({ message }) => fail(message));
setTimeout(() => fail(`no response within ${timeoutMs} ms`), timeoutMs);
sent.end();
