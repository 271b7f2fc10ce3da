import { extname } from 'node:path';
import type { AssetOptions } from '../assets.ts';
import { TaskFailedError } from '../errors.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation, Options } from './command-line.ts';
import { ErrorWithHint } from './error-with-hint.ts';
import { audioTypes, imageTypes, readUrl } from './media-options.ts';
import { Progress } from './progress.ts';
import { printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const videoExtensions = ['.mp4', '.mov'];

/** `unigate assets upload`: registers media by URL and prints its asset URL once it is active. */
export async function uploadAsset(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const url = readUrl('URL', text) ?? '';
  const body = { url, asset_type: readType(options, url), name: options.name };
  const id = await client.assets.upload(body, { ...assetOptions(options), signal });
  const progress = new Progress(terminal.stderr, options.quiet);
  progress.printLine(`asset ${id}`);
  try {
    const onProgress = ({ status }: { status: string }) => progress.showStatus(status);
    await client.assets.waitFor(id, { ...assetOptions(options), signal, onProgress });
  } catch (error) {
    if (error instanceof TaskFailedError) throw error;
    throw new ErrorWithHint(`Check it with: npx unigate assets show ${id}`, error);
  } finally {
    progress.clear();
  }
  terminal.stdout.write(`asset://${id}\n`);
}

/** `unigate assets show`: prints an asset and its status. */
export async function showAsset(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const asset = await client.assets.retrieve(text.replace(/^asset:\/\//, ''), {
    ...assetOptions(options),
    signal,
  });
  const { Id, AssetType, Status, Name, CreateTime, URL: url, Error: failure } = asset;
  const rows = [
    ['id', Id],
    ['type', AssetType],
    ['status', Status],
    ['name', Name],
    ['created', CreateTime],
    ['url', url],
    ['error', failure && `${failure.Code}: ${failure.Message}`],
  ].filter((row): row is [string, string] => Boolean(row[1]));
  printTable(terminal, options, rows, asset);
}

function assetOptions({ model }: Options): AssetOptions {
  // The gateway validates the value.
  return { model: model as AssetOptions['model'] };
}

function readType({ type }: Options, url: string): string {
  if (type !== undefined) return type;
  const extension = URL.canParse(url) ? extname(new URL(url).pathname).toLowerCase() : '';
  if (extension in imageTypes) return 'Image';
  if (videoExtensions.includes(extension)) return 'Video';
  if (extension in audioTypes) return 'Audio';
  throw new UsageError('--type is required (image, video or audio), because the URL has no known extension.');
}
