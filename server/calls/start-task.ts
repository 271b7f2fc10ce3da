import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import type { OperationRequest } from '../http/handler.ts';
import { channelUnavailable, Failure } from '../lib/failure.ts';
import { SentUrls } from '../media/sent-urls.ts';
import { quoted } from '../models/catalogue.ts';
import { hostsIn } from '../providers/provider-redactor.ts';
import { failureWithPublicIds, type PublicIds } from '../providers/public-ids.ts';
import type { OpenFields, PriceFields } from '../settings/price-rules.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskFormat } from '../store/schema.ts';
import { checkCallbackUrl } from '../tasks/callbacks/callback-url.ts';
import { channelProtocol, type TaskModel } from '../tasks/task-model.ts';
import { type RoutedRequest, resolveReferences } from './assets/references.ts';
import { repetitionOf } from './repetition.ts';

/** A task request, translated for the protocol of its model. */
export interface TaskPlan {
  model: TaskModel;
  /** The format that the task can be read in. */
  format: TaskFormat;
  /** The upstream's body. The driver adds the upstream's name of the model. */
  body: Readonly<Record<string, unknown>>;
  /** Properties of the request that drivers and renderers need later. */
  facts: Readonly<Record<string, unknown>>;
  /** Units to reserve, in the model's unit. */
  expectedUnits: number;
  /** Upper bound of the completion tokens of a video. Default: 0. */
  maxOutputTokens?: number;
  /** The fields that the price depends on. Default: none. */
  priceFields?: PriceFields;
  /** Those of them that the provider chooses. Default: none. */
  openFields?: OpenFields;
  /** Milliseconds until an unfinished task fails. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** Field of the callback URL, if the format has several. */
  callbackField?: string;
  /** The object that the task continues. Only one provider has it. */
  source?: TaskSource;
  /** The client's field for each item of the body's `content`. */
  fields?: readonly string[];
  /** Replacements for parts of the body in messages to the client. */
  publicIds?: PublicIds;
  /** The client's own body. `findRepeatedTask` finds the task by it when its source no longer exists. */
  clientRequest?: object;
}

/** An object of the caller that a request continues. */
interface TaskSource {
  /** Name of the channel that has it. */
  channel: string;
  /** The client's field and its value. */
  field: string;
  id: string;
  publicIds?: PublicIds;
}

/**
 * Creates the task. It is durable when this resolves.
 *
 * @throws Failure 503 when the channel of the source is not available, and as `Tasks.submit`, `checkCallbackUrl` and
 *   `resolveReferences`
 */
export async function startTask(
  request: OperationRequest<OperationId>,
  operation: OperationId,
  { body: upstreamBody, fields = [], publicIds = {}, source, callbackUrl, callbackField, ...plan }: TaskPlan,
): Promise<TaskRecord> {
  const { gateway, caller, requestId, headers, requested, hasFallback } = request;
  const callback = callbackUrl !== undefined && {
    callbackUrl: checkCallbackUrl(
      callbackUrl,
      callbackField ?? callbackFields[plan.format],
      gateway.settings.callbacks,
    ),
  };
  const { id, protocol } = plan.model;
  const serving = gateway.channels.serving(channelProtocol(protocol), id, caller.group);
  const channels = source === undefined ? serving : onlyChannelOf(serving, source);
  const plain = { body: upstreamBody, channels, publicIds: { ...publicIds, ...source?.publicIds }, fields };
  // Only this protocol has assets and drafts. Other families get file links instead.
  const routed = protocol === 'official' ? await resolveReferences(request, id, plain) : plain;
  const hosts = hostsIn(plan.clientRequest ?? upstreamBody);
  try {
    const { task } = await gateway.tasks.submit({
      ...plan,
      ...callback,
      // A later error message of the provider may contain upstream ids and the client's own hosts.
      facts: {
        ...plan.facts,
        ...(hasPublicIds(routed) && { public_ids: routed.publicIds }),
        ...(hosts.length > 0 && { sent_hosts: hosts }),
      },
      sentUrls: new SentUrls(upstreamBody).hashes(),
      ...(typeof plan.facts.service_tier === 'string' && { serviceTier: plan.facts.service_tier }),
      ...(requested !== undefined && { clientRequest: requested.body, requestedModel: requested.model }),
      hasFallback,
      requestId,
      caller,
      operation,
      driver: protocol,
      channels: gateway.channels.order(routed.channels),
      request: routed.body,
      ...repetitionOf(headers),
    });
    return task;
  } catch (error) {
    throw error instanceof Failure && hasPublicIds(routed)
      ? failureWithPublicIds(error, routed.publicIds)
      : error;
  }
}

/**
 * Finds the task of an identical earlier request, for a request whose source no longer exists. Its plan must have had the
 * client's body as `clientRequest`.
 */
export async function findRepeatedTask(
  { gateway, caller, headers, body }: OperationRequest<'submitMusic' | 'createMusic' | 'submitImageAction'>,
  operation: OperationId,
  { model, format }: Pick<TaskPlan, 'model' | 'format'>,
): Promise<TaskRecord | undefined> {
  const repetition = repetitionOf(headers);
  if (repetition === undefined) return undefined;
  return gateway.tasks.findRepeated({ caller, operation, model, format, ...repetition, clientRequest: body });
}

/** Returns only the channel that has the source. */
function onlyChannelOf(channels: readonly Channel[], { channel, field, id }: TaskSource): readonly Channel[] {
  const owner = channels.filter(({ name }) => name === channel);
  if (owner.length > 0) return owner;
  throw channelUnavailable(`${field}: the provider that has ${quoted(id)} is not available to this key.`);
}

function hasPublicIds({ publicIds }: RoutedRequest): boolean {
  return Object.keys(publicIds).length > 0;
}

/** Field of the callback URL by format. */
const callbackFields: Readonly<Record<TaskFormat, string>> = {
  generic: 'metadata.callback_url',
  videos: 'metadata.callback_url',
  native: 'callback_url',
  official: 'callback_url',
  music: 'callback_url',
  image: 'notifyHook',
};
