import type { Request, Response } from 'express';
import type { Json } from '../../../openapi/tools/document.ts';
import { ownAddress, rewritten } from '../examples.ts';
import { mediaOf } from '../media.ts';
import { streamOf } from './example.ts';
import type { ExamplesFolder } from './examples-folder.ts';
import { requestOf } from './recorder.ts';

/** Answers a request from the recorded examples; false when there is none for it. */
export async function replay(
  folder: ExamplesFolder,
  request: Request,
  response: Response,
  { base, pause }: { base: string; pause: () => Promise<void> },
): Promise<boolean> {
  const { operation } = request.context;
  if (operation === undefined) return false;
  // A form was read into an object, and cannot be told from JSON any more; it was recorded without its body.
  const isForm = (request.headers['content-type'] ?? '').startsWith('multipart/');
  const body = isForm ? undefined : (request.body as Json | undefined);
  const answer = folder.next({ operation: operation.id, request: requestOf(request, body) });
  if (answer === undefined) return false;
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers))
    response.setHeader(name, ownAddress(value, base));
  const { json, text, events, media } = answer;
  const own = (value: Json) => rewritten(value, (one) => ownAddress(one, base));
  if (events !== undefined) {
    for (const event of events) {
      response.write(streamOf('data' in event ? { ...event, data: own(event.data) } : event));
      await pause();
    }
    response.end();
  } else if (media !== undefined) response.end((await folder.media(answer)) ?? mediaOf(media.type) ?? '');
  else if (json !== undefined) response.end(JSON.stringify(own(json)));
  else response.end(text ?? '');
  return true;
}
