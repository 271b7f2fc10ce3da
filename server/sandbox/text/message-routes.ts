import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { countTextTokens } from '../billing.ts';
import { type Exchange, type Handler, type Route, sendJson, sendText } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { internalError, invalidParameter, type NativeError } from '../http/native-error.ts';
import { maxBodyBytes, withErrorFormat } from '../tasks/protocol.ts';
import { applyTriggers, dropConnection } from '../triggered-errors.ts';
import { findTriggers, type Triggers } from '../triggers.ts';
import { createMessage, type Message } from './message.ts';
import { createEvents } from './message-events.ts';
import { type MessageRequest, readMessageRequest, readPrompt } from './message-request.ts';

/** The messages protocol: an extractive echo of the prompt. */
export const messageRoutes: readonly Route[] = [
  { methods: ['POST'], path: /^\/v1\/messages$/, handler: messageHandler(createMessageResponse) },
  { methods: ['POST'], path: /^\/v1\/messages\/count_tokens$/, handler: messageHandler(countPromptTokens) },
];

function messageHandler(handler: Handler): Handler {
  return withErrorFormat(formatError, async (exchange) => {
    const version = exchange.request.headers['compat-version'];
    if (version === undefined || version === '')
      throw invalidParameter('compat-version is required', 'compat-version');
    await handler(exchange);
  });
}

async function countPromptTokens(exchange: Exchange): Promise<void> {
  const { question, promptText } = readPrompt(await readJson(exchange.request, maxBodyBytes));
  await applyTriggers(exchange, findTriggers(question));
  sendJson(exchange, 200, { input_tokens: countTextTokens(promptText) });
}

async function createMessageResponse(exchange: Exchange): Promise<void> {
  const request = readMessageRequest(await readJson(exchange.request, maxBodyBytes));
  const triggers = findTriggers(request.question);
  await applyTriggers(exchange, triggers);
  const message = createMessage(request);
  await (request.stream ? streamMessage : sendMessage)(exchange, request, message, triggers);
}

async function sendMessage(
  exchange: Exchange,
  { model }: MessageRequest,
  message: Message,
  triggers: Triggers,
): Promise<void> {
  if (triggers.has('fail-late')) throw internalError();
  if (triggers.has('drop')) return await dropConnection(exchange);
  if (triggers.has('malformed')) return sendText(exchange, 200, '{"id":"msg_');
  const { id, content, stopReason, stopSequence, inputTokens, outputTokens } = message;
  sendJson(exchange, 200, {
    id,
    type: 'message',
    role: 'assistant',
    content,
    model,
    stop_reason: stopReason,
    stop_sequence: stopSequence,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  });
}

async function streamMessage(
  exchange: Exchange,
  { model }: MessageRequest,
  message: Message,
  triggers: Triggers,
): Promise<void> {
  const { response, signal } = exchange;
  const send = async (type: string, data: string) => {
    signal.throwIfAborted();
    if (!response.write(`event: ${type}\ndata: ${data}\n\n`)) await once(response, 'drain', { signal });
    // The gateway can run in the same process, so the handler yields to the event loop between events.
    await setImmediate();
  };
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (triggers.has('malformed')) await send('message_start', '{"type":"message_st');
  for (const event of createEvents(message, model)) {
    await send(event.type, JSON.stringify(event));
    if (event.type !== 'content_block_delta') continue;
    if (triggers.has('drop')) return await dropConnection(exchange);
    if (triggers.has('fail-late')) {
      const error = { type: 'overloaded_error', message: 'The service is overloaded' };
      await send('error', JSON.stringify({ type: 'error', error }));
      break;
    }
  }
  response.end();
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
};

function formatError({ status, message }: NativeError, requestId: string): object {
  const type = types[status] ?? 'invalid_request_error';
  return { type: 'error', error: { type, message }, request_id: requestId };
}
