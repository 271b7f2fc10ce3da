import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import type { OperationRequest } from '../http/handler.ts';
import { channelUnavailable, Failure } from '../lib/failure.ts';
import { SentUrls } from '../media/sent-urls.ts';
import { quoted } from '../models/catalogue.ts';
import { hostsIn } from '../providers/provider-words.ts';
import { failureWithPublicIds, type PublicIds } from '../providers/public-ids.ts';
import type { Settings } from '../settings/settings.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import type { TaskFormat } from '../store/schema.ts';
import { checkCallbackUrl } from '../tasks/callbacks/callback-url.ts';
import { channelProtocol, type TaskModel } from '../tasks/task-model.ts';
import { type Routed, resolveReferences } from './assets/references.ts';

/** A request for a task, translated for the protocol of its model. */
export interface TaskPlan {
  model: TaskModel;
  /** The format it can be read in. */
  format: TaskFormat;
  /** The upstream's body; the driver puts the upstream's name of the model into it. */
  body: Readonly<Record<string, unknown>>;
  /** What drivers and renderers need to know of the request as long as the task lives. */
  facts: Readonly<Record<string, unknown>>;
  /** In the model's unit: so many are reserved. */
  expectedUnits: number;
  /** Milliseconds until it fails if it is not final by then. */
  lifetimeMs?: number;
  callbackUrl?: string;
  /** What the client calls the address, where its format has several names for it. */
  callbackField?: string;
  /** What it goes on from, which only one provider has. */
  source?: TaskSource;
  /** What the client calls each item of the body's `content`. */
  fields?: readonly string[];
  /** Words that stand for parts of the body in messages to the client. */
  publicIds?: PublicIds;
  /** The client's own body, by which `earlierTask` finds the task when its source is gone. */
  asked?: object;
}

/** Something of the caller's that a request goes on from. */
export interface TaskSource {
  /** Name of the channel that has it. */
  channel: string;
  /** The field that names it, and what stands there. */
  field: string;
  id: string;
  /** Of what the body refers to. */
  publicIds?: PublicIds;
}

/**
 * Makes the task: when this resolves, it is on disk and its id may be answered.
 *
 * @throws Failure 503 when the channel of the source is not there, as `Tasks.submit` says, as `checkCallbackUrl`, and as `resolveReferences` for what the body refers to
 */
export async function startTask(
  request: OperationRequest<OperationId>,
  operation: OperationId,
  { body: asked, fields = [], publicIds = {}, source, callbackField, ...plan }: TaskPlan,
): Promise<TaskRecord> {
  const { gateway, caller, requestId, headers } = request;
  const callback = callbackOf({ ...plan, callbackField }, gateway.settings);
  const { id, protocol } = plan.model;
  const serving = gateway.channels.serving(channelProtocol(protocol), id, caller.group);
  const channels = source === undefined ? serving : keeping(serving, source);
  const plain = { body: asked, channels, publicIds: { ...publicIds, ...source?.publicIds }, fields };
  // Only this protocol has assets and drafts. Requests of other families hold links of the files already.
  const routed = protocol === 'official' ? await resolveReferences(request, id, plain) : plain;
  const hosts = hostsIn(plan.asked ?? asked);
  const idempotencyKey = headers['idempotency-key'];
  try {
    const { task } = await gateway.tasks.submit({
      ...plan,
      ...callback,
      // The provider's words about a task that fails later may name what it refers to, and the client's own hosts.
      facts: {
        ...plan.facts,
        ...(referring(routed) && { public_ids: routed.publicIds }),
        ...(hosts.length > 0 && { sent_hosts: hosts }),
      },
      sentUrls: new SentUrls(asked).hashes(),
      ...(typeof plan.facts.service_tier === 'string' && { serviceTier: plan.facts.service_tier }),
      requestId,
      caller,
      operation,
      driver: protocol,
      channels: gateway.channels.order(routed.channels),
      request: routed.body,
      ...(typeof idempotencyKey === 'string' ? { idempotencyKey } : {}),
    });
    return task;
  } catch (error) {
    throw error instanceof Failure && referring(routed)
      ? failureWithPublicIds(error, routed.publicIds)
      : error;
  }
}

/**
 * The task that the caller has made of the very same request before, under the same idempotency key: for one that goes on
 * from something that is gone since. Its plan had the client's body as `asked`.
 */
export async function earlierTask(
  { gateway, caller, headers, body }: OperationRequest<'submitMusic' | 'createMusic' | 'submitImageAction'>,
  operation: OperationId,
  { model, format }: Pick<TaskPlan, 'model' | 'format'>,
): Promise<TaskRecord | undefined> {
  const idempotencyKey = headers['idempotency-key'];
  if (typeof idempotencyKey !== 'string') return undefined;
  return gateway.tasks.repeated({ caller, operation, model, format, idempotencyKey, asked: body });
}

/** Of the channels the one that has what a request goes on from. */
function keeping(channels: readonly Channel[], { channel, field, id }: TaskSource): readonly Channel[] {
  const left = channels.filter(({ name }) => name === channel);
  if (left.length > 0) return left;
  throw channelUnavailable(`${field}: the provider that has ${quoted(id)} is not available to this key.`);
}

function referring({ publicIds }: Routed): boolean {
  return Object.keys(publicIds).length > 0;
}

function callbackOf(
  {
    callbackUrl,
    callbackField,
    format,
  }: Pick<TaskPlan, 'callbackUrl' | 'format'> & { callbackField: string | undefined },
  { callbacks }: Settings,
): Pick<TaskPlan, 'callbackUrl'> {
  if (callbackUrl === undefined) return {};
  return { callbackUrl: checkCallbackUrl(callbackUrl, callbackField ?? callbackFields[format], callbacks) };
}

/** What requests of each format call the address. */
const callbackFields: Readonly<Record<TaskFormat, string>> = {
  generic: 'metadata.callback_url',
  videos: 'metadata.callback_url',
  native: 'callback_url',
  official: 'callback_url',
  music: 'callback_url',
  image: 'notifyHook',
};
