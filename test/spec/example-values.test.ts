import { expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { bundle } from '../conformance/contract/documented.ts';
import { eventBundle } from '../conformance/contract/schemas.ts';

/** Time fields of image jobs, which are in milliseconds. All other Unix times are in seconds. */
const millisecondTimes = new Set(['submitTime', 'startTime', 'finishTime']);
const isTime = (name: string) => /(^|_)(at|created|time|since|until)$|Time$|^(hour|day)$/.test(name);
/** From 2020 to 2100. */
const plausibleSeconds = { min: 1_577_836_800, max: 4_102_444_800 };
/** A smaller number is a duration, or 0 or -1 for no time. */
const minTime = 1e8;

const byModel = new Map<Json, (typeof models)[number]>(models.map((model) => [model.id, model]));

/** Problems of the values in an example that its schema cannot express. */
function valueProblems(node: Json | undefined, pointer: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one, index) => valueProblems(one, `${pointer}/${index}`));
  if (!isObject(node)) return [];
  return [
    ...modelProblems(node, pointer),
    ...Object.entries(node).flatMap(([name, value]) => [
      ...(typeof value === 'number' && isTime(name) ? timeProblems(name, value, `${pointer}/${name}`) : []),
      ...valueProblems(value, `${pointer}/${name}`),
    ]),
  ];
}

function timeProblems(name: string, value: number, pointer: string): string[] {
  if (value < minTime) return [];
  const seconds = millisecondTimes.has(name) ? value / 1000 : value;
  const isPlausible = seconds >= plausibleSeconds.min && seconds <= plausibleSeconds.max;
  return isPlausible ? [] : [`${pointer}: ${value} is not a time from 2020 to 2100`];
}

function modelProblems(node: JsonObject, pointer: string): string[] {
  const model = byModel.get(node.model ?? node.model_name ?? node.id ?? null);
  if (model === undefined) return [];
  return (['unit', 'protocols'] as const).flatMap((name) => {
    const value = node[name];
    return value === undefined || JSON.stringify(value) === JSON.stringify(model[name])
      ? []
      : [`${pointer}/${name}: ${JSON.stringify(value)} is not that of ${model.id}`];
  });
}

/** Yields the values of all examples below a node. The examples of a property are objects with that property. */
function* examplesBelow(node: Json | undefined, pointer: string): Generator<[pointer: string, value: Json]> {
  if (Array.isArray(node))
    for (const [index, one] of node.entries()) yield* examplesBelow(one, `${pointer}/${index}`);
  if (!isObject(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === 'example' || name === 'examples') {
      const field = /\/properties\/([^/]+)$/.exec(pointer)?.[1];
      const values = Array.isArray(value) ? value : [value];
      yield [`${pointer}/${name}`, field === undefined ? value : values.map((one) => ({ [field]: one }))];
    } else yield* examplesBelow(value, `${pointer}/${name}`);
  }
}

const examples = [bundle, eventBundle].flatMap((document) => [...examplesBelow(document, '#')]);

test('times, units and protocols in examples are plausible', () => {
  expect(examples.length).toBeGreaterThan(500);
  expect(examples.flatMap(([pointer, value]) => valueProblems(value, pointer))).toEqual([]);
});

test.each([
  [{ created_at: 1_924_990_000_000 }, ['/created_at: 1924990000000 is not a time from 2020 to 2100']],
  [{ submitTime: 1_924_990_000 }, ['/submitTime: 1924990000 is not a time from 2020 to 2100']],
  [{ model: 'voxa-v3-flash', unit: 'seconds' }, ['/unit: "seconds" is not that of voxa-v3-flash']],
  [{ model: 'voxa-v3-flash', unit: 'characters', created_at: 1_924_990_000, expires_at: -1 }, []],
])('values of %j', (value, problems) => {
  expect(valueProblems(value, '')).toEqual(problems);
});
