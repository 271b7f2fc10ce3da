import type { Channel } from '../../channels/channel.ts';
import type { Gateway } from '../../http/gateway.ts';
import { type Caller, viewerOf } from '../../keys/caller.ts';
import { channelUnavailable, type Failure, invalid } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import type { PublicIds } from '../../providers/public-ids.ts';
import { findAssets } from '../../store/queries/assets.ts';
import { findSeenTasks, type TaskRecord } from '../../store/queries/tasks.ts';
import type { AssetsTable, AssetType } from '../../store/schema.ts';
import { refreshAsset } from './refresh-asset.ts';

/** The only model of the overseas accounts, which store assets separately. */
export const overseasModel = 'zeta-delta-2-0-fast-260128';
/** More than any model accepts, and few enough for one query. */
const maxReferences = 100;

/** An upstream's body and the channels that can serve it. */
export interface RoutedRequest {
  body: Readonly<Record<string, unknown>>;
  channels: readonly Channel[];
  publicIds: PublicIds;
  /** The client's field for each item of the body's `content`. */
  fields: readonly string[];
}

/** A public id in a request's body. */
interface Reference {
  kind: 'asset' | 'draft';
  id: string;
  /** Name of the field, for error messages. */
  field: string;
  /** Asset type that the field accepts. Undefined for any. */
  accepts: AssetType | undefined;
}

const scheme = /^\s*asset:\/\//i;

const mediaFields: ReadonlyMap<string, AssetType> = new Map([
  ['image_url', 'Image'],
  ['video_url', 'Video'],
  ['audio_url', 'Audio'],
]);

/**
 * Replaces public asset and draft ids in an upstream's body with the provider's ids. Reduces `channels` to the one that
 * stores the referenced items.
 *
 * @throws Failure 400 when an item is unknown, another user's, not ready, of the wrong type for its field or of another
 *   region than the model, when two channels store the items, or when their channel does not serve the model. 503 when
 *   that channel is not configured.
 */
export async function resolveReferences(
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  modelId: string,
  plain: RoutedRequest,
): Promise<RoutedRequest> {
  const { body, channels, fields } = plain;
  const references: Reference[] = [];
  mapReferences(body, fields, (reference) => {
    references.push(reference);
    return reference.id;
  });
  const [first] = references;
  if (first === undefined) return plain;
  const found = await findReferenced(gateway, caller, references);
  const byChannel = new Map<string, Reference>();
  const publicIds: Record<string, string> = {};
  const resolved = mapReferences(body, fields, (reference) => {
    const { channel, upstreamId } = resolveReference(reference, found, modelId);
    byChannel.set(channel, reference);
    publicIds[upstreamId] = reference.id;
    return reference.kind === 'asset' ? `asset://${upstreamId}` : upstreamId;
  });
  const [name = '', other] = byChannel.keys();
  if (other !== undefined) throw differentProviders([...byChannel.values()]);
  const owner = channels.filter((channel) => channel.name === name);
  if (owner.length === 0) throw notServed(first, modelId, gateway.channels.named(name));
  return { body: resolved as RoutedRequest['body'], channels: owner, publicIds, fields };
}

/** The caller's own assets and tasks by their public ids. */
interface ReferencedItems {
  assets: ReadonlyMap<string, AssetsTable>;
  tasks: ReadonlyMap<string, TaskRecord>;
}

async function findReferenced(
  gateway: Gateway,
  caller: Caller,
  references: readonly Reference[],
): Promise<ReferencedItems> {
  const idsOf = (wanted: Reference['kind']) => [
    ...new Set(references.filter(({ kind }) => kind === wanted).map(({ id }) => id)),
  ];
  const [assetIds, taskIds] = [idsOf('asset'), idsOf('draft')];
  if (assetIds.length + taskIds.length > maxReferences) {
    throw invalid('content', `must refer to at most ${maxReferences} assets and drafts.`);
  }
  const assets = await findUsableAssets(gateway, caller, assetIds);
  const tasks = await findSeenTasks(gateway.store.read, { ids: taskIds, ...viewerOf(caller) });
  return { assets, tasks: new Map(tasks.map((task) => [task.id, task])) };
}

/** Finds the caller's assets by id. Refreshes the state of those in processing. */
export async function findUsableAssets(
  gateway: Gateway,
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AssetsTable>> {
  const found = await findAssets(gateway.store.read, { ids: [...new Set(ids)], ...viewerOf(caller) });
  const assets = await Promise.all(
    found.map(async (asset) => (asset.status === 'Processing' ? refreshAsset(gateway, asset) : asset)),
  );
  return new Map(assets.map((asset) => [asset.id, asset]));
}

/** The id in an asset reference. Undefined for any other URL. */
export function assetIdIn(url: string): string | undefined {
  return scheme.test(url) ? url.replace(scheme, '').trim() : undefined;
}

/** @throws Failure 400 when the reference cannot be used. */
function resolveReference(
  reference: Reference,
  { assets, tasks }: ReferencedItems,
  modelId: string,
): { channel: string; upstreamId: string } {
  if (reference.kind === 'draft') return usableDraft(tasks.get(reference.id), reference);
  const { channel, upstream_id: upstreamId } = requireUsable(assets, reference, modelId);
  return { channel, upstreamId };
}

/**
 * Returns the asset of a reference. `modelId`: the model that needs the asset at its provider.
 *
 * @throws Failure 400 when the asset is unknown or cannot be used
 */
export function requireUsable(
  assets: ReadonlyMap<string, AssetsTable>,
  { id, field, accepts }: Omit<Reference, 'kind'>,
  modelId?: string,
): AssetsTable {
  const asset = assets.get(id);
  if (asset === undefined) throw invalid(field, `there is no asset ${quoted(id)}.`);
  const problem = problemOf(asset, accepts, modelId);
  if (problem !== undefined) throw invalid(field, `asset ${quoted(id)} ${problem}`);
  return asset;
}

function problemOf(
  { asset_type: type, status, model, error_code: code, error_message: message }: AssetsTable,
  accepts: AssetType | undefined,
  modelId: string | undefined,
): string | undefined {
  if (accepts !== undefined && type !== accepts)
    return `is of type ${type}, but the field accepts ${accepts}.`;
  if (modelId !== undefined && model !== null && model !== modelId)
    return `was uploaded for ${model} and works with no other model.`;
  if (modelId === overseasModel && model === null)
    return `was uploaded without a model. Upload it with the query model=${overseasModel} to use it with that model.`;
  if (status === 'Processing') return 'is Processing. It can be used when it is Active.';
  return status === 'Failed' ? `is Failed: ${code}: ${message}` : undefined;
}

function usableDraft(
  task: TaskRecord | undefined,
  { id, field }: Reference,
): { channel: string; upstreamId: string } {
  if (task?.driver !== 'official') throw invalid(field, `there is no Seedance task ${quoted(id)}.`);
  const { state, channel, upstreamId } = task;
  if (state !== 'completed' || upstreamId === null) {
    throw invalid(field, `task ${quoted(id)} is ${state}. A draft can be used when it is completed.`);
  }
  return { channel, upstreamId };
}

/** Builds the failure for items of different providers. */
export function differentProviders([one, other]: readonly Pick<Reference, 'id' | 'field'>[]): Failure {
  const ids = `${quoted(one?.id ?? '')} and ${quoted(other?.id ?? '')}`;
  return invalid(other?.field ?? '', `${ids} are stored by different providers. Upload one of them again.`);
}

function notServed({ id, field }: Reference, modelId: string, owner: Channel | undefined): Failure {
  if (owner !== undefined) {
    return invalid(
      field,
      `${quoted(id)} is stored by a provider that does not serve ${modelId} to this key.`,
    );
  }
  return channelUnavailable(`The provider of ${quoted(id)} is not available.`);
}

/**
 * Replaces asset URLs outside prompts, and draft ids. `fields` are the client's names of the items of `content`, `path`
 * the keys and indexes of the enclosing fields, the innermost last.
 */
function mapReferences(
  value: unknown,
  fields: readonly string[],
  resolve: (reference: Reference) => string,
  path: readonly string[] = [],
): unknown {
  if (typeof value === 'string') {
    const reference = referenceIn(value, path, fields);
    return reference === undefined ? value : resolve(reference);
  }
  const mapAt = (inner: unknown, key: string) => mapReferences(inner, fields, resolve, [...path, key]);
  if (Array.isArray(value)) return value.map((item: unknown, index) => mapAt(item, String(index)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapAt(inner, name)]));
}

function referenceIn(
  text: string,
  path: readonly string[],
  fields: readonly string[],
): Reference | undefined {
  const [list, index] = path;
  const clientField = (list === 'content' && fields[Number(index)]) || undefined;
  const name = path.at(-1) ?? '';
  if (name === 'id' && path.at(-2) === 'draft_task')
    return { kind: 'draft', id: text, field: clientField ?? 'draft_task.id', accepts: undefined };
  const id = name === 'text' ? undefined : assetIdIn(text);
  if (id === undefined) return undefined;
  const field = path.findLast((one) => mediaFields.has(one)) ?? name;
  return { kind: 'asset', id, field: clientField ?? field, accepts: mediaFields.get(field) };
}
