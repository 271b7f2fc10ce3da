import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { type Exchange, type Route, sendText } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import type { NativeError } from '../http/native-error.ts';
import { withErrorFormat } from '../tasks/protocol.ts';
import { applyTriggers, dropConnection } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { type EmbeddingRequest, readEmbeddingRequest, tokensOf } from './embedding-request.ts';
import { embeddingVector } from './embedding-vector.ts';

/** The protocol of embeddings: vectors of texts, which are lexical hashes. */
export const embeddingRoutes: readonly Route[] = [
  { methods: ['POST'], path: /^\/v1\/embeddings$/, handler: withErrorFormat(publicError, embed) },
];

const maxBodyBytes = 4 * 1024 * 1024;

async function embed(exchange: Exchange): Promise<void> {
  const request = readEmbeddingRequest(await readJson(exchange.request, maxBodyBytes));
  const triggers = findTriggers(...request.texts.filter((text) => typeof text === 'string'));
  await applyTriggers(exchange, triggers);
  if (triggers.has('malformed')) return sendText(exchange, 200, '{"object":"list","data":[{"embed');
  const { response, signal } = exchange;
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const piece of answerTo(request)) {
    signal.throwIfAborted();
    if (!response.write(piece)) await once(response, 'drain', { signal });
    if (triggers.has('drop')) return await dropConnection(exchange);
    // The gateway may live in the same process: others have a turn between the vectors.
    await setImmediate();
  }
  response.end();
}

/** The answer vector by vector, since thousands of them are many megabytes. */
function* answerTo({ model, texts, packed, dimensions }: EmbeddingRequest): Generator<string> {
  let before = '{"object":"list","data":[';
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    const vector = embeddingVector(text, dimensions);
    const embedding = packed ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    yield before + JSON.stringify({ object: 'embedding', index, embedding });
    before = ',';
    tokens += tokensOf(text);
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

function publicError({ status, code, message, field }: NativeError): object {
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return {
    error: { message, type, param: field ?? null, code: code === 'InvalidParameter' ? null : code },
  };
}
