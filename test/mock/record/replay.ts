import type { Request, Response } from 'express';
import type { Json } from '../../../openapi/tools/document.ts';
import { localUrl, mapValues } from '../examples.ts';
import { mediaOf } from '../media.ts';
import { streamOf } from './example.ts';
import type { ExamplesFolder } from './examples-folder.ts';
import { requestOf } from './recorder.ts';

/** Sends the recorded response to a request. Returns false if there is none. */
export async function replay(
  folder: ExamplesFolder,
  request: Request,
  response: Response,
  { base, pause }: { base: string; pause: () => Promise<void> },
): Promise<boolean> {
  const { operation } = request.context;
  if (operation === undefined) return false;
  // Forms are recorded without a body. Here the form is parsed already.
  const isForm = (request.headers['content-type'] ?? '').startsWith('multipart/');
  const body = isForm ? undefined : (request.body as Json | undefined);
  const recorded = folder.next({ operation: operation.id, request: requestOf(request, body) });
  if (recorded === undefined) return false;
  response.statusCode = recorded.status;
  for (const [name, value] of Object.entries(recorded.headers))
    response.setHeader(name, localUrl(value, base));
  const { json, text, events, media } = recorded;
  const localize = (value: Json) => mapValues(value, (one) => localUrl(one, base));
  if (events !== undefined) {
    for (const event of events) {
      response.write(streamOf('data' in event ? { ...event, data: localize(event.data) } : event));
      await pause();
    }
    response.end();
  } else if (media !== undefined) response.end((await folder.media(recorded)) ?? mediaOf(media.type) ?? '');
  else if (json !== undefined) response.end(JSON.stringify(localize(json)));
  else response.end(text ?? '');
  return true;
}
