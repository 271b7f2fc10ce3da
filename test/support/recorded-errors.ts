import { type RunnerTestCase, TestRunner } from 'vitest';
import { errorFamilyNear, findRoute } from '../../server/http/routes.ts';
import { knownErrors } from './uncovered-errors.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Errors that gateways returned during the test, as `<family> <status> <code>` or `<family> <code>`. */
    errors?: string[];
  }
}

/** Records an error in the metadata of the current test, so that the report of a run lists all errors. */
function record(error: string): void {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>();
  if (test === undefined) return;
  test.meta.errors ??= [];
  if (!test.meta.errors.includes(error)) test.meta.errors.push(error);
}

/** Records errors in the format of `TaskMeta.errors`. */
export function recordErrors(errors: Iterable<string>): void {
  for (const error of errors) record(error);
}

/** Records the code of a failed task. */
export function recordTaskCode(code: string | null | undefined): void {
  if (typeof code === 'string') record(`task ${code}`);
}

/** Records the code of an event, if it has one. */
export function recordEvent(event: {
  error?: { code?: string | null };
  header?: { error_code?: string };
}): void {
  if (typeof event.error?.code === 'string') record(`realtime ${event.error.code}`);
  if (event.header?.error_code !== undefined) record(`inference ${event.header.error_code}`);
}

/** Records the error in a response of a gateway. Returns the response with its body unread. */
export async function recordResponse(
  request: { method: string; path: string },
  response: Response,
): Promise<Response> {
  const { headers } = response;
  // A stream may be long and may fail.
  const hasLength = headers.has('content-length');
  if (hasLength && headers.get('content-type')?.startsWith('application/json') === true)
    recordResponseBody(request, response.status, await response.clone().text());
  return response;
}

/** Records the error or the failed task in a response body. Returns the error. */
export function recordResponseBody(
  { method, path }: { method: string; path: string },
  status: number,
  text: string,
): string | undefined {
  const body = parsed(text);
  if (status < 400) {
    recordTaskCode(body.error?.code ?? body.output?.code ?? body.data?.Error?.Code);
    return undefined;
  }
  const [route = ''] = path.split('?', 1);
  const operation = findRoute(route)?.methods.get(method.toLowerCase())?.operation;
  const family = operation?.errorFamily ?? errorFamilyNear(route);
  const errorOf = (code = '') => [family, status, code].join(' ').trimEnd();
  if (body.error === undefined && body.success !== false) {
    // Native routes return provider failures as flat objects, with a code of the provider or of errors.yaml.
    const flat = errorOf(body.code);
    if (knownErrors.has(flat)) record(flat);
    return undefined;
  }
  const error = errorOf(body.error?.code);
  record(error);
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
