import type { Unit } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import type { ChannelResponse } from '../../channels/failover.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { notServed } from '../../lib/failure.ts';
import { findModel, knownModel, modelNotFound, quoted, requireProtocol } from '../../models/catalogue.ts';
import { isJson, mediaType } from '../../providers/headers.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import { failureWithPublicIds } from '../../providers/public-ids.ts';
import { readRejection, rejectionFailure } from '../../providers/rejection.ts';
import { unusableResponse } from '../../providers/unusable-response.ts';
import type { Usage } from '../../quota/metering.ts';
import type { PricedRequest } from '../../quota/priced-request.ts';
import { requestModel } from '../metered-call.ts';

/** Longest time to generate a whole message: the timeout of public clients. */
const maxWritingMs = 600_000;

/** A text model and the channels that serve it to the caller. */
interface TextModel {
  id: string;
  unit: Unit;
  /** In failover order. */
  channels: readonly Channel[];
}

/** A text call with its price and its likely usage. */
export interface PricedText extends PricedRequest {
  model: TextModel;
  maxOutputTokens: number;
  likely: Usage;
}

/**
 * Finds a model in the catalog, or one that only a channel lists.
 *
 * @throws Failure 404 when it does not exist or has no price, 403 when the caller may not use it, 400 when another route
 *   serves it, 503 when no channel serves it to the caller
 */
export function findTextModel(
  { gateway: { access, channels }, caller }: OperationRequest<OperationId>,
  id: string,
  /** Channels with this protocol serve the model. */
  protocol: 'embeddings' | 'messages',
): TextModel {
  let unit: Unit = 'tokens';
  if (knownModel(id)) {
    const model = findModel(id);
    access.require(caller, model);
    requireProtocol(model, protocol);
    ({ unit } = model);
  } else {
    if (!channels.lists(protocol, id)) throw modelNotFound(id);
    access.require(caller, { id });
  }
  const serving = channels.serving(protocol, id, caller.group);
  if (serving.length === 0) throw notServed(quoted(id));
  return { id, unit, channels: channels.order(serving) };
}

/** Sends the client's body with its version and feature headers, with failover. */
export function requestMessage(
  request: OperationRequest<'createMessage' | 'countMessageTokens'>,
  { id: model, channels }: TextModel,
  path: string,
  signal: AbortSignal,
): Promise<ChannelResponse> {
  const headers = Object.fromEntries(
    ['compat-version', 'compat-beta'].flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
  const body = () => request.body;
  return requestModel(request, channels, { path, headers, model, body, maxSilenceMs: maxWritingMs, signal });
}

/**
 * Requires a successful response with JSON or events.
 *
 * @throws Failure of the provider's rejection, with the public id of the model. 502 for any other content.
 */
export async function requireContent(
  channelResponse: ChannelResponse,
  model: string,
  kind: 'json' | 'events',
): Promise<void> {
  const { response, channel } = channelResponse;
  if (response.status !== 200) {
    const failure = rejectionFailure(await readRejection(response, redactorFor(channelResponse)));
    const upstreamName = channel.upstreamModel(model);
    throw upstreamName === model ? failure : failureWithPublicIds(failure, { [upstreamName]: model });
  }
  const { headers, body } = response;
  if (kind === 'json' ? isJson(headers) : mediaType(headers) === 'text/event-stream') return;
  await body.dump();
  throw unusableResponse();
}
