import { type Exchange, type Route, sendJson } from '../../http/exchange.ts';
import { readJson } from '../../http/json-body.ts';
import { invalidParameter, type NativeError } from '../../http/native-error.ts';
import type { MediaKind } from '../../media/media-facts.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { applyPollTriggers, idFromPath, sendCreated, withErrorFormat } from '../../tasks/protocol.ts';
import { failOrHang } from '../../triggered-errors.ts';
import { findTriggers } from '../../triggers.ts';
import { VerifiedGroups } from '../../verified-groups.ts';
import type { VideoServices } from '../video-services.ts';
import { type Asset, type Assets, createAssetNotFoundError, isOverseas } from './assets.ts';

const kinds: Readonly<Record<string, MediaKind>> = { image: 'image', video: 'video', audio: 'audio' };
const typeNames: Readonly<Record<MediaKind, string>> = { image: 'Image', video: 'Video', audio: 'Audio' };

/** Routes to upload assets by URL and to get them. */
export function assetRoutes({ assets, storage }: VideoServices): Route[] {
  const groups = new VerifiedGroups(storage);

  async function upload(exchange: Exchange): Promise<void> {
    const request = new Parameters(await readJson(exchange.request), '');
    const url = request.pattern('url', /^https?:\/\//i, 'an http or https address');
    const kind = kinds[request.requiredString('asset_type').toLowerCase()];
    if (!kind) throw request.invalid('asset_type', 'must be Image, Video or Audio');
    const name = request.string('name') ?? '';
    const groupId = request.string('group_id');
    if (groupId !== undefined && !groups.has(groupId))
      throw request.invalid('group_id', 'must be the group of a verified person');
    const triggers = findTriggers(name, url);
    const overseas = readRegion(exchange);
    await failOrHang(exchange, triggers);
    const { id: Id } = assets.add({ kind, url, name, overseas, groupId }, triggers);
    await sendCreated(exchange, triggers, { code: 0, message: 'success', data: { Id } });
  }

  async function show(exchange: Exchange): Promise<void> {
    const asset = assets.find(idFromPath(exchange), readRegion(exchange));
    if (!asset) throw createAssetNotFoundError();
    if (await applyPollTriggers(exchange, asset)) return;
    sendJson(exchange, 200, { code: 0, message: 'success', data: formatAsset(asset, assets) });
  }

  return [
    { methods: ['POST'], path: /^\/api\/assets\/upload$/, handler: withErrorFormat(formatError, upload) },
    { methods: ['GET'], path: /^\/api\/assets\/[^/]+$/, handler: withErrorFormat(formatError, show) },
  ];
}

function readRegion({ url }: Exchange): boolean {
  const model = url.searchParams.get('model');
  if (model === null) return false;
  if (!isOverseas(resolveModel(model, 'official').id))
    throw invalidParameter('model is only accepted for the overseas model', 'model');
  return true;
}

function formatAsset(asset: Asset, assets: Assets): object {
  const stage = asset.stage();
  const { kind, name, groupId = assets.groupId } = asset.request;
  return {
    Id: asset.id,
    AssetType: typeNames[kind],
    Status: stage.name === 'succeeded' ? 'Active' : stage.name === 'failed' ? 'Failed' : 'Processing',
    Name: name,
    GroupId: groupId,
    ProjectName: 'default',
    CreateTime: formatTime(asset.createdAt),
    UpdateTime: formatTime('endedAt' in stage ? stage.endedAt : asset.createdAt),
    ...(stage.name === 'succeeded' && { URL: assets.signUrl(stage) }),
    ...(stage.name === 'failed' && { Error: { Code: stage.failure.code, Message: stage.failure.message } }),
  };
}

function formatTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

function formatError({ code, message }: NativeError, requestId: string): object {
  return { error: { code, message, request_id: requestId } };
}
