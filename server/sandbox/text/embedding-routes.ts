import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { type Exchange, type Route, sendText } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import type { NativeError } from '../http/native-error.ts';
import { withErrorFormat } from '../tasks/protocol.ts';
import { applyTriggers, dropConnection } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { countTokens, type EmbeddingRequest, readEmbeddingRequest } from './embedding-request.ts';
import { computeVector } from './embedding-vector.ts';

/** The embeddings protocol. The vectors are lexical hashes. */
export const embeddingRoutes: readonly Route[] = [
  { methods: ['POST'], path: /^\/v1\/embeddings$/, handler: withErrorFormat(formatError, embed) },
];

const maxBodyBytes = 4 * 1024 * 1024;

async function embed(exchange: Exchange): Promise<void> {
  const request = readEmbeddingRequest(await readJson(exchange.request, maxBodyBytes));
  const triggers = findTriggers(...request.texts.filter((text) => typeof text === 'string'));
  await applyTriggers(exchange, triggers);
  if (triggers.has('malformed')) return sendText(exchange, 200, '{"object":"list","data":[{"embed');
  const { response, signal } = exchange;
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const chunk of createResponse(request)) {
    signal.throwIfAborted();
    if (!response.write(chunk)) await once(response, 'drain', { signal });
    if (triggers.has('drop')) return await dropConnection(exchange);
    // The gateway can run in the same process, so the handler yields to the event loop between vectors.
    await setImmediate();
  }
  response.end();
}

/** Yields the response vector by vector, because a large request results in many megabytes. */
function* createResponse({ model, texts, isBase64, dimensions }: EmbeddingRequest): Generator<string> {
  let before = '{"object":"list","data":[';
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    const vector = computeVector(text, dimensions);
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    yield before + JSON.stringify({ object: 'embedding', index, embedding });
    before = ',';
    tokens += countTokens(text);
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

function formatError({ status, code, message, field }: NativeError): object {
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return {
    error: { message, type, param: field ?? null, code: code === 'InvalidParameter' ? null : code },
  };
}
