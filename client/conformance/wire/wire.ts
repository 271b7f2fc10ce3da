import type { DocumentedHeader, DocumentedOperation, Media } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
import type { Answer } from './answer.ts';
import { streamProblems } from './event-stream.ts';
import { looksLike } from './media-signatures.ts';

/**
 * What an answer breaks of the contract: its status, headers, content type and body. Empty when all is as
 * documented.
 */
export function violations(operation: DocumentedOperation, answer: Answer): string[] {
  const response = operation.responses.find(({ status }) => status === answer.status);
  if (response === undefined) return [`status ${answer.status} is not documented: ${excerpt(answer)}`];
  const headers = response.headers.flatMap((header) => headerProblems(header, answer.headers));
  if (response.content.length === 0) {
    return answer.body.length === 0 ? headers : [...headers, `a body is not documented: ${excerpt(answer)}`];
  }
  const type = mediaTypeOf(answer);
  const media = response.content.find(({ mediaType }) => mediaType === type);
  const body =
    media === undefined
      ? [`content type ${type} is not documented for ${answer.status}: ${excerpt(answer)}`]
      : bodyProblems(operation.path, media, answer);
  return [...headers, ...body];
}

export const mediaTypeOf = ({ headers }: Answer): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function headerProblems(header: DocumentedHeader, headers: Headers): string[] {
  const value = headers.get(header.name);
  if (value === null) return header.required ? [`header ${header.name} is missing`] : [];
  const { type } = header.schema;
  const typed = type === 'integer' || type === 'number' ? Number(value) : value;
  return schemaProblems(header, typed).map((problem) => `header ${header.name} ${problem}`);
}

function bodyProblems(path: string, media: Media, answer: Answer): string[] {
  const { body } = answer;
  if (media.mediaType === 'application/json') {
    try {
      return schemaProblems(media, JSON.parse(body.toString('utf8')));
    } catch {
      return [`the body is not JSON: ${excerpt(answer)}`];
    }
  }
  if (media.mediaType === 'application/jsonl') return lineProblems(media, body.toString('utf8'));
  if (media.mediaType === 'text/event-stream') return streamProblems(path, body.toString('utf8'));
  if (looksLike(media.mediaType, body)) return [];
  return [`the body is not ${media.mediaType}: ${body.toString('hex', 0, 16)}`];
}

/** Of JSON lines; each is held to the schema. */
function lineProblems(media: Media, text: string): string[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') return ['the last line has no end'];
  return lines.flatMap((line) => schemaProblems(media, JSON.parse(line)));
}

export const excerpt = ({ body }: Answer): string => body.toString('utf8', 0, 300);
