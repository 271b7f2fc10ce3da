import type { Gateway } from '../../http/gateway.ts';
import { type AssetStatus, askForAsset } from '../../providers/official/assets.ts';
import type { AssetEnd } from '../../store/commands/assets.ts';
import { findAssets } from '../../store/queries/assets.ts';
import type { AssetsTable } from '../../store/schema.ts';
import { noteDriverError } from '../../tasks/driver.ts';

const hour = 60 * 60_000;
/** How long a signed address works. */
const addressLife = 12 * hour;
/** An address is asked for anew when no more than this is left of its life. */
const addressMargin = hour;
/** A reader waits so long for the provider, in milliseconds. */
const timeoutMs = 5_000;
/** A provider may not find a new asset at once, in milliseconds. */
const unknownAtFirst = 60_000;

/**
 * The asset as it stands now. Its provider is asked while it is in processing and when its address is about to run
 * out, once however many want to know; the last known state is given when the provider does not report it.
 */
export function refreshed(gateway: Gateway, asset: AssetsTable): Promise<AssetsTable> {
  if (!needsNews(asset, gateway.clock())) return Promise.resolve(asset);
  const { assetRefreshes } = gateway;
  const running = assetRefreshes.get(asset.id);
  if (running !== undefined) return running;
  const begun = refresh(gateway, asset).finally(() => assetRefreshes.delete(asset.id));
  assetRefreshes.set(asset.id, begun);
  return begun;
}

function needsNews({ status, url_expires }: AssetsTable, now: number): boolean {
  return status === 'Processing' || (status === 'Active' && (url_expires ?? 0) - now <= addressMargin);
}

async function refresh(gateway: Gateway, asset: AssetsTable): Promise<AssetsTable> {
  const reported = await ask(gateway, asset);
  if (reported === undefined) return asset;
  const { id, user_id: userId } = asset;
  const now = gateway.clock();
  if (asset.status === 'Processing') {
    const end = endOf(reported, now);
    if (end === undefined) return asset;
    // It has changed before it was asked about.
    const changedAt =
      'ageMs' in reported && reported.ageMs !== undefined ? asset.created_at + reported.ageMs : now;
    await gateway.store.run('settleAsset', { id, end, now: Math.min(now, changedAt) });
  } else {
    // The same address again says nothing of its life, so it is asked for again next time.
    if (reported.status !== 'Active' || reported.url === asset.url) return asset;
    await gateway.store.run('renewAssetUrl', { id, url: reported.url, urlExpires: now + addressLife });
  }
  const [current] = await findAssets(gateway.store.read, { ids: [id], userId });
  return current ?? asset;
}

function endOf(reported: AssetStatus, now: number): AssetEnd | undefined {
  if (reported.status === 'Processing') return undefined;
  if (reported.status === 'Failed') return reported;
  return { ...reported, urlExpires: now + addressLife };
}

/** Undefined when the provider reported nothing. */
async function ask(
  { channels, logger, clock }: Gateway,
  { id, user_id: user, channel: name, upstream_id: upstreamId, model, created_at }: AssetsTable,
): Promise<AssetStatus | undefined> {
  const channel = channels.named(name);
  if (channel === undefined) return undefined;
  const attempt = channel.health.startAttempt({ user, poll: true });
  try {
    // Its own limit and not a reader's signal: others may be waiting for the same answer.
    const upstream = { channel, user, signal: AbortSignal.timeout(timeoutMs) };
    const reported = await askForAsset(upstream, { upstreamId, model });
    attempt.succeed();
    return reported.status === 'Failed'
      ? { ...reported, message: reported.message.replaceAll(upstreamId, id) }
      : reported;
  } catch (error) {
    const words = 'an asset could not be asked about';
    const { kind, failure } = noteDriverError(logger, error, { channel, attempt }, words, {
      asset: id,
    });
    const lost = kind === 'rejected' && failure.status === 404 && clock() - created_at > unknownAtFirst;
    return lost
      ? { status: 'Failed', code: failure.code, message: failure.message.replaceAll(upstreamId, id) }
      : undefined;
  }
}
