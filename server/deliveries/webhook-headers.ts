import { createHmac } from 'node:crypto';

/** How secrets begin whose rest is the Base64 of the key. */
const encoded = 'whsec_';

/** The headers of the Standard Webhooks convention; `at` is epoch milliseconds. */
export function webhookHeaders(
  id: string,
  at: number,
  body: string,
  secret: string | undefined,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const key = secret.startsWith(encoded) ? Buffer.from(secret.slice(encoded.length), 'base64') : secret;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
