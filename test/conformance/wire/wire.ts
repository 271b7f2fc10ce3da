import type { DocumentedHeader, DocumentedOperation, Media } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
import { streamProblems } from './event-stream.ts';
import type { HttpResponse } from './http-response.ts';
import { hasSignature, mediaTypeOfBytes } from './media-signatures.ts';
import { structureProblem } from './media-structure.ts';

/** Checks status, headers, content type and body of a response against the contract. Returns the violations. */
export function violations(operation: DocumentedOperation, response: HttpResponse): string[] {
  const expected = operation.responses.find(({ status }) => status === response.status);
  if (expected === undefined) return [`status ${response.status} is not documented: ${excerpt(response)}`];
  const headers = expected.headers.flatMap((header) => headerProblems(header, response.headers));
  if (expected.content.length === 0) {
    return response.body.length === 0
      ? headers
      : [...headers, `a body is not documented: ${excerpt(response)}`];
  }
  const type = mediaTypeOf(response);
  const media = expected.content.find(({ mediaType }) => mediaType === type);
  const body =
    media === undefined
      ? [`content type ${type} is not documented for ${response.status}: ${excerpt(response)}`]
      : bodyProblems(operation.path, media, response);
  return [...headers, ...body];
}

export const mediaTypeOf = ({ headers }: HttpResponse): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function headerProblems(header: DocumentedHeader, headers: Headers): string[] {
  const value = headers.get(header.name);
  if (value === null) return header.required ? [`header ${header.name} is missing`] : [];
  const { type } = header.schema;
  const typed = type === 'integer' || type === 'number' ? Number(value) : value;
  return schemaProblems(header, typed).map((problem) => `header ${header.name} ${problem}`);
}

function bodyProblems(path: string, media: Media, response: HttpResponse): string[] {
  const { body } = response;
  if (media.mediaType === 'application/json') {
    try {
      return schemaProblems(media, JSON.parse(body.toString('utf8')));
    } catch {
      return [`the body is not JSON: ${excerpt(response)}`];
    }
  }
  if (media.mediaType === 'application/jsonl') return lineProblems(media, body.toString('utf8'));
  if (media.mediaType === 'text/event-stream') return streamProblems(path, body.toString('utf8'));
  if (hasSignature(media.mediaType, body)) {
    const defect = response.status === 206 ? undefined : structureProblem(media.mediaType, body);
    return defect === undefined ? [] : [`the body is not ${media.mediaType}: it has ${defect}`];
  }
  const actual = mediaTypeOfBytes(body);
  return [`the body is not ${media.mediaType}: ${actual ?? 'unknown type'}, ${body.length} bytes`];
}

/** Validates each line of a JSON Lines body. */
function lineProblems(media: Media, text: string): string[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') return ['the last line has no line break'];
  return lines.flatMap((line) => schemaProblems(media, JSON.parse(line)));
}

/** Returns the start of a text body, and the type and size of other bodies. */
export function excerpt(response: HttpResponse): string {
  const { body } = response;
  const type = mediaTypeOf(response);
  if (!/^(text\/|application\/(.+\+)?(json|jsonl|xml|problem)|$)/.test(type) || body.includes(0))
    return `<${body.length} bytes of ${type || 'unknown type'}>`;
  return body.toString('utf8', 0, 300);
}
