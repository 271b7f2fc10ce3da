import type { Outcome } from '../asks/ask.ts';
import type { DocumentedCallback, DocumentedOperation } from '../contract/documented.ts';
import { eventProblems, schemaProblems } from '../contract/schemas.ts';
import { put } from '../limits/shape-cases.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';
import { jsonOf } from '../wire/answer.ts';
import { excerpt } from '../wire/wire.ts';

const back = 'https://app.example/verified';

/**
 * Goes the end user's way through the page of a session: the first button of its form leads the browser back to the
 * caller, whose address is not called here. Only a sandbox has a page that a program can answer.
 */
export async function visitPage(
  operation: DocumentedOperation,
  callback: DocumentedCallback,
  { caller, target, triggers, timeoutMs, seen }: World,
): Promise<Outcome> {
  if (!triggers) throw new Unavailable('the page of a real provider wants a real person');
  const body = put({}, callback.field, back);
  const { answer, curl } = await caller.send(target, operation, { body });
  if (answer.status !== 200) return { problems: [`answered ${answer.status}: ${excerpt(answer)}`], curl };
  const { data } = jsonOf(answer) as { data: { h5_link: string } };
  const signal = AbortSignal.timeout(timeoutMs);
  const page = await (await fetch(data.h5_link, { signal })).text();
  const { action, fields } = formOf(page);
  const pressed = await fetch(new URL(action, data.h5_link), {
    method: 'POST',
    body: fields,
    redirect: 'manual',
    signal,
  });
  const location = pressed.headers.get('location') ?? '';
  if (!location.startsWith(`${back}?`))
    return { problems: [`the page leads to ${location || pressed.status} instead of ${back}`], curl };
  const query = Object.fromEntries(new URL(location).searchParams);
  const payload = 'VerificationCallback';
  const problems = [
    ...eventProblems(payload, query),
    ...callback.parameters.flatMap(({ name, required, ...located }) => {
      if (query[name] === undefined) return required ? [`${name} is missing`] : [];
      return schemaProblems(located, query[name]);
    }),
  ];
  if (problems.length === 0) seen.events.add(`verificationCallback server ${payload}`);
  return { problems: problems.map((problem) => `the visit ${location}: ${problem}`), curl };
}

/** The first form of a page as its first button sends it. @throws Unavailable when there is none */
function formOf(page: string): { action: string; fields: URLSearchParams } {
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
