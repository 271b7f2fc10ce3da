import { type ChannelResponse, requestWithFailover } from '../../channels/failover.ts';
import type { OperationRequest } from '../../http/handler.ts';
import type { TextModel } from './text-model.ts';

export type MessagesOperation = 'createMessage' | 'countMessageTokens';

/** Longest time to generate a whole message: the timeout of public clients. */
const maxWritingMs = 600_000;

/** Sends the client's body with its version and feature headers, with failover. */
export function requestMessage(
  { gateway, caller, body, headers }: OperationRequest<MessagesOperation>,
  model: TextModel,
  path: string,
  signal: AbortSignal,
): Promise<ChannelResponse> {
  const sent = Object.fromEntries(
    ['compat-version', 'compat-beta'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
  return requestWithFailover(
    model.channels,
    (channel) => ({
      method: 'POST',
      path,
      headers: sent,
      body: { ...body, model: channel.upstreamModel(model.id) },
      user: caller.userId,
      maxSilenceMs: maxWritingMs,
      signal,
    }),
    gateway.logger,
    { user: caller.userId, model: model.id },
  );
}
