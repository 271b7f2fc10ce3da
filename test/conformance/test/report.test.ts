import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkRandomRequests, randomRequests } from '../checks/random-requests.ts';
import { documented, documentedOperations } from '../contract/documented.ts';
import { schemaProblems } from '../contract/schemas.ts';
import { Heartbeat } from '../report/heartbeat.ts';
import { junitOf } from '../report/junit.ts';
import type { Check, Report } from '../report/report.ts';
import type { Variation } from '../wire/exchange.ts';

describe('a union', () => {
  const reply = (id: string) => {
    const media = documented(id).responses.find(({ status }) => status === 200)?.content[0];
    if (media === undefined) throw new Error(`${id} has no response`);
    return { media, example: structuredClone(media.examples[0]?.value) as Record<string, unknown> };
  };

  test('reports the member with the tag of the value', () => {
    const { media, example } = reply('createMessage');
    const problems = schemaProblems(media, { ...example, content: [{ type: 'text', text: 5 }] });
    expect(problems).toEqual(['/content/0/text must be string {"type":"string"} (as OutputTextBlock)']);
  });

  test('reports the member that differs least', () => {
    const { media, example } = reply('getNativeTask');
    const output = { ...(example.output as object), task_status: 'SUCCEEDED', submit_time: 7 };
    expect(schemaProblems(media, { ...example, output }).toSorted()).toEqual([
      `/output must have required property 'end_time' {"missingProperty":"end_time"} (as NativeTaskSucceeded)`,
      `/output must have required property 'video_url' {"missingProperty":"video_url"} (as NativeTaskSucceeded)`,
      '/output/submit_time must be string {"type":"string"} (as NativeTaskSucceeded)',
    ]);
  });
});

describe('a heartbeat', () => {
  afterEach(() => void vi.useRealTimers());

  test('reports each interval of a long check, until it ends', () => {
    vi.useFakeTimers();
    const waits: string[] = [];
    const heartbeat = new Heartbeat({ onWait: (...wait) => void waits.push(wait.join(' ')) });
    heartbeat.start('getVideo', 'short');
    vi.advanceTimersByTime(14_000);
    heartbeat.start('getVideo', 'long');
    vi.advanceTimersByTime(31_000);
    heartbeat.stop();
    vi.advanceTimersByTime(60_000);
    expect(waits).toEqual(['getVideo long 15', 'getVideo long 30']);
  });
});

test('JUnit counts the checks, not the parts of the contract that are not covered', () => {
  const check = (name: string, outcome: Check['outcome']): Check => ({
    operation: 'listModels',
    area: 'models',
    name,
    outcome,
    problems: outcome === 'passed' ? [] : ['<a problem & its cause>'],
    ms: 5,
  });
  const report: Report = {
    baseUrl: 'http://127.0.0.1:9',
    contract: '1.0.0',
    seed: 7,
    runs: 5,
    startedAt: '2026-11-25T20:00:00.000Z',
    seconds: 1,
    triggers: false,
    quota: null,
    passed: 1,
    failed: 1,
    skipped: 1,
    checks: [check('a', 'passed'), check('b', 'failed'), check('c', 'skipped')],
    responses: [
      { operation: 'listModels', status: 503, mediaType: 'application/json', covered: false, reason: 'No.' },
    ],
    events: [{ channel: 'realtime', direction: 'server', message: 'Any', covered: false, reason: 'No.' }],
    errors: [{ family: 'generic', status: 400, code: 'invalid_request', covered: true }],
    leftovers: [],
  };
  const junit = junitOf(report);
  expect(junit.match(/<testcase /g)).toHaveLength(3);
  expect(junit).toMatch(/<testsuites name="conformance" tests="3" failures="1" skipped="1" /);
  expect(junit.match(/<property /g)).toHaveLength(2);
  expect(junit).toContain('&lt;a problem &amp; its cause&gt;');
});

describe('a seed', () => {
  const operations = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === undefined);

  async function sentWith(seed: number, ids: readonly string[]): Promise<Map<string, Variation[]>> {
    const sent = new Map<string, Variation[]>();
    for (const id of ids)
      for (const random of await randomRequests(documented(id)))
        await checkRandomRequests(random, { runs: 5, seed }, async (variation) => {
          sent.set(id, [...(sent.get(id) ?? []), variation]);
          const response = { status: 400, headers: new Headers(), body: Buffer.alloc(0) };
          return { response, problems: [], curl: '' };
        });
    return sent;
  }

  test('repeats every random request, in any order and selection of operations', async () => {
    const ids = operations.map(({ id }) => id);
    const first = await sentWith(7, ids);
    const again = await sentWith(7, ids.toReversed());
    expect(first.size).toBeGreaterThan(40);
    expect(new Map([...again].toReversed())).toEqual(first);
    expect(await sentWith(8, ids)).not.toEqual(first);
  });
});
