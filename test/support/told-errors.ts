import { type RunnerTestCase, TestRunner } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { findRoute } from '../../server/http/routes.ts';
import { knownErrors } from './untold-errors.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Errors that gateways have told in the test, each as `<family> <status> <code>`, or `<family> <code>`. */
    errors?: string[];
  }
}

/** Notes it with the test that runs, so that the report of a whole run has all that was told. */
function note(error: string): void {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (test === undefined) return;
  test.meta.errors ??= [];
  if (!test.meta.errors.includes(error)) test.meta.errors.push(error);
}

/** Keeps in mind errors that are in the form of the notes already. */
export function noteErrors(errors: Iterable<string>): void {
  for (const error of errors) note(error);
}

/** Keeps in mind the code of a failed task. */
export function noteTaskCode(code: string | null | undefined): void {
  if (typeof code === 'string') note(`task ${code}`);
}

/** Keeps in mind the code of an event, if it has one. */
export function noteEvent(event: {
  error?: { code?: string | null };
  header?: { error_code?: string };
}): void {
  if (typeof event.error?.code === 'string') note(`realtime ${event.error.code}`);
  if (event.header?.error_code !== undefined) note(`inference ${event.header.error_code}`);
}

/** Keeps in mind what a gateway has answered, and gives it back to be read. */
export async function noteResponse(
  request: { method: string; path: string },
  response: Response,
): Promise<Response> {
  const { headers } = response;
  // What is streamed may be long, and may break off.
  const isWhole = headers.has('content-length');
  if (isWhole && headers.get('content-type')?.startsWith('application/json') === true)
    noteAnswer(request, response.status, await response.clone().text());
  return response;
}

/** Keeps in mind what an answer of a gateway tells: an error, or a task that has failed. Gives the error. */
export function noteAnswer(
  { method, path }: { method: string; path: string },
  status: number,
  text: string,
): string | undefined {
  const body = parsed(text);
  if (status < 400) {
    noteTaskCode(body.error?.code ?? body.output?.code ?? body.data?.Error?.Code);
    return undefined;
  }
  const operation = findRoute(path.split('?', 1)[0] ?? '')?.methods.get(method.toLowerCase())?.operation.id;
  const family = operation === undefined ? 'generic' : operations[operation].errorFamily;
  const errorOf = (code = '') => [family, status, code].join(' ').trimEnd();
  if (body.error === undefined && body.success !== false) {
    // Flat on native routes: the provider's own code, or where it has none, one of errors.yaml.
    const flat = errorOf(body.code);
    if (knownErrors.has(flat)) note(flat);
    return undefined;
  }
  const error = errorOf(body.error?.code);
  note(error);
  return error;
}

interface Body {
  success?: boolean;
  code?: string;
  error?: { code?: string } | null;
  output?: { code?: string };
  data?: { Error?: { Code?: string } };
}

function parsed(text: string): Body {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
