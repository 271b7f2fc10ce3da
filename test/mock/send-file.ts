import type { Request, Response } from 'express';
import { Failure } from '../../server/lib/failure.ts';
import { mediaFile } from './media.ts';
import { sampleFile } from './sample-audio.ts';
import { settingsOfName } from './speech-audio.ts';

/**
 * Sends a small media file, or the part in the `range` header.
 *
 * @throws Failure 404 for an unknown name, 416 if the file has no such part
 */
export async function sendFile(request: Request, response: Response, name: string): Promise<void> {
  const settings = settingsOfName(name);
  const file = settings === undefined ? mediaFile(name) : await sampleFile(settings);
  if (file === undefined) throw new Failure(404, 'path_not_found', `${request.path} has no file.`);
  response.type(name).setHeader('accept-ranges', 'bytes');
  const ranges = request.method === 'HEAD' ? undefined : request.range(file.length);
  if (ranges === -1) {
    const contentRange = `bytes */${file.length}`;
    throw new Failure(416, 'range_not_satisfiable', 'range: the file has no such part.', { contentRange });
  }
  const [part, ...others] = Array.isArray(ranges) && ranges.type === 'bytes' ? ranges : [];
  const bytes = part === undefined || others.length > 0 ? file : file.subarray(part.start, part.end + 1);
  if (bytes !== file && part !== undefined)
    response.status(206).setHeader('content-range', `bytes ${part.start}-${part.end}/${file.length}`);
  response.setHeader('content-length', bytes.length);
  response.end(bytes);
}
