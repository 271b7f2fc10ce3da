import { type ChannelResponse, requestWithFailover } from '../../channels/failover.ts';
import type { OperationRequest } from '../../http/handler.ts';
import type { TextModel } from './text-model.ts';

export type MessagesOperation = 'createMessage' | 'countMessageTokens';

/** Longest time in which a whole message is written, in milliseconds: what public clients wait for one. */
const writingMs = 600_000;

/** Asks the model's channels in turn: the body goes on as it came, with version and features that the client names. */
export function askForMessage(
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
      maxSilenceMs: writingMs,
      signal,
    }),
    gateway.logger,
    { user: caller.userId, model: model.id },
  );
}
