import type { BodyLimits } from './body-limits.ts';
import type { FormLimits } from './form-parts.ts';
import { parseForm } from './parse-form.ts';
import { parseJsonBody } from './parse-json.ts';
import { requirePlainValues } from './value-problem.ts';

/** A complete body and its format. It can be sent to a thread. */
export type BodyJob =
  | { readonly kind: 'json'; readonly chunks: readonly Uint8Array[]; readonly limits: BodyLimits }
  | {
      readonly kind: 'form';
      readonly chunks: readonly Uint8Array[];
      /** Value of the header, with the boundary. */
      readonly contentType: string;
      readonly limits: FormLimits;
    };

/**
 * Parses a body and checks its values, see `requirePlainValues`.
 *
 * @throws Failure 400 or 413 that names the field and the limit
 */
export async function parseBody(job: BodyJob): Promise<unknown> {
  // A thread receives buffers as plain arrays of bytes.
  const chunks = job.chunks.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  if (job.kind === 'form') return parseForm(chunks, job.contentType, job.limits);
  const value = parseJsonBody(chunks, job.limits);
  requirePlainValues(value, 'body', job.limits.textBytes);
  return value;
}
