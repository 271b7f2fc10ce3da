import type { RunContext } from '../context/run-context.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { DocumentedCallback, DocumentedOperation } from '../contract/documented.ts';
import { eventProblems, schemaProblems } from '../contract/schemas.ts';
import { put } from '../limits/shape-cases.ts';
import type { CheckOutcome } from '../scenarios/scenario.ts';
import { jsonOf } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';

const callbackUrl = 'https://app.example/verified';

/**
 * Submits the page of a verification session as an end user would, with the first button of its form. Checks the redirect
 * to the callback URL without following it. Only the page of a sandbox can be submitted by a program.
 */
export async function checkVerificationPage(
  operation: DocumentedOperation,
  callback: DocumentedCallback,
  { caller, target, triggers, timeoutMs, coverage }: RunContext,
): Promise<CheckOutcome> {
  if (!triggers) throw new Unavailable('only a person can complete the page of a real provider');
  const body = put({}, callback.field, callbackUrl);
  const { response, curl } = await caller.send(target, operation, { body });
  if (response.status !== 200) return { problems: [`status ${response.status}: ${excerpt(response)}`], curl };
  const { data } = jsonOf(response) as { data: { h5_link: string } };
  const signal = AbortSignal.timeout(timeoutMs);
  const page = await (await fetch(data.h5_link, { signal })).text();
  const { action, fields } = firstForm(page);
  const submitted = await fetch(new URL(action, data.h5_link), {
    method: 'POST',
    body: fields,
    redirect: 'manual',
    signal,
  });
  const location = submitted.headers.get('location') ?? '';
  if (!location.startsWith(`${callbackUrl}?`))
    return {
      problems: [`the page redirects to ${location || submitted.status} instead of ${callbackUrl}`],
      curl,
    };
  const query = Object.fromEntries(new URL(location).searchParams);
  const payload = 'VerificationCallback';
  const problems = [
    ...eventProblems(payload, query),
    ...callback.parameters.flatMap(({ name, required, ...located }) => {
      if (query[name] === undefined) return required ? [`${name} is missing`] : [];
      return schemaProblems(located, query[name]);
    }),
  ];
  if (problems.length === 0) coverage.events.add(`verificationCallback server ${payload}`);
  return { problems: problems.map((problem) => `the redirect ${location}: ${problem}`), curl };
}

/** Returns the first form of a page with the value of its first button. @throws Unavailable without a form */
function firstForm(page: string): { action: string; fields: URLSearchParams } {
  const [form] = /<form[^]*?<\/form>/.exec(page) ?? [];
  const attribute = (tag: string, name: string) =>
    (new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '').replaceAll('&amp;', '&');
  const tags = form?.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
  const [button] = form?.match(/<button[^>]*>/g) ?? [];
  if (form === undefined || button === undefined)
    throw new Unavailable('the page of the session has no form with a button');
  const fields = [...tags, button].map((tag): [string, string] => [
    attribute(tag, 'name'),
    attribute(tag, 'value'),
  ]);
  return { action: attribute(form, 'action'), fields: new URLSearchParams(fields) };
}
