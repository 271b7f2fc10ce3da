import { extname } from 'node:path';
import type { AssetOptions } from '../assets.ts';
import { TaskFailedError } from '../errors.ts';
import type { Unigate } from '../unigate.ts';
import { AdvisedError } from './advice.ts';
import { UsageError } from './check-options.ts';
import type { Invocation, Options } from './command-line.ts';
import { audioTypes, imageTypes, readAddress } from './media-options.ts';
import { Progress } from './progress.ts';
import { printTable, type Terminal } from './terminal.ts';

const videoEndings = ['.mp4', '.mov'];

/** `unigate assets upload`: has media fetched from its address, and prints how to refer to it once that is possible. */
export async function uploadAsset(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const url = readAddress('URL', text) ?? '';
  const body = { url, asset_type: readType(options, url), name: options.name };
  const id = await client.assets.upload(body, { ...of(options), signal });
  const progress = new Progress(terminal.stderr, options.quiet);
  progress.tell(`asset ${id}`);
  try {
    const onProgress = ({ status }: { status: string }) => progress.wait(status);
    await client.assets.waitFor(id, { ...of(options), signal, onProgress });
  } catch (error) {
    if (error instanceof TaskFailedError) throw error;
    throw new AdvisedError(`Look again with: npx unigate assets show ${id}`, error);
  } finally {
    progress.clear();
  }
  terminal.stdout.write(`asset://${id}\n`);
}

/** `unigate assets show`: what an asset is and whether it may be referred to. */
export async function showAsset(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const asset = await client.assets.retrieve(text.replace(/^asset:\/\//, ''), { ...of(options), signal });
  const { Id, AssetType, Status, Name, CreateTime, URL: url, Error: failure } = asset;
  const facts = [
    ['id', Id],
    ['type', AssetType],
    ['status', Status],
    ['name', Name],
    ['created', CreateTime],
    ['url', url],
    ['error', failure && `${failure.Code}: ${failure.Message}`],
  ].filter((row): row is [string, string] => Boolean(row[1]));
  printTable(terminal, options, facts, asset);
}

function of({ model }: Options): AssetOptions {
  // What it may be is the gateway's to judge.
  return { model: model as AssetOptions['model'] };
}

function readType({ type }: Options, url: string): string {
  if (type !== undefined) return type;
  const ending = URL.canParse(url) ? extname(new URL(url).pathname).toLowerCase() : '';
  if (ending in imageTypes) return 'Image';
  if (videoEndings.includes(ending)) return 'Video';
  if (ending in audioTypes) return 'Audio';
  throw new UsageError('--type: image, video or audio; the address does not tell.');
}
