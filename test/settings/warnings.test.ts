import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'unigate-warnings-'));
const file = join(folder, 'gateway.yaml');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const warningsOf = (yaml: string) => {
  writeFileSync(file, yaml);
  return readSettings({ CONFIG: file }).warnings;
};

/** Returns a file with the models of one channel on line 5, followed by `rest`. */
const withModels = (models: string, rest: string, channel = 'protocol: native') =>
  `channels:
  - name: eu
    base_url: https://upstream.example
    ${channel}
    models: ${models}
${rest}`;

describe('no warning', () => {
  test('comes from a gateway without a file', () => {
    expect(readSettings({}).warnings).toEqual([]);
  });

  test.each([
    ['a price of "*"', withModels('["*"]', 'prices: { "*": 1 }\n')],
    ['a price for the model', withModels('[voxa-v2]', 'prices: { voxa-v2: 0 }\n')],
    ['a pattern as price', withModels('["voxa-v3-*"]', 'prices: { "voxa*": 1 }\n')],
    ['several prices for a pattern', withModels('["voxa-v3-*"]', 'prices: { "*-plus": 1, "*-flash": 2 }\n')],
    [
      'a pattern beyond the catalogue with a price for some of its models',
      withModels('["house-*"]', 'prices: { house-chat: 1 }\n', 'protocol: messages'),
    ],
    [
      'a model that a group may use',
      withModels(
        '["*"]',
        'prices: { "voxa*": 1 }\ngroups: { default: { models: ["voxa-v*"] }, closed: { models: [] } }\n',
      ),
    ],
    ['the sandbox alone', 'sandbox: true\n'],
    ['the sandbox with a price', 'sandbox: true\nprices: { voxa-v2: 3 }\n'],
    [
      'the sandbox beside a channel with a price',
      withModels('[voxa-v2]', 'sandbox: true\nprices: { voxa-v2: 3 }\n'),
    ],
  ])('comes from %s', (_name, yaml) => {
    expect(warningsOf(yaml)).toEqual([]);
  });
});

describe('a warning with its line names', () => {
  const onLine = (line: number, message: string) => [`${file}:${line}: ${message}`];
  test.each([
    [
      'a model without a price',
      withModels('[voxa-v2, voxa-v1]', 'prices: { voxa-v2: 3 }\n'),
      5,
      'channels.0.models.1: not served, because no price is set: voxa-v1.',
    ],
    [
      'every model of a pattern without a price',
      withModels('["voxa-v3-*"]', ''),
      5,
      'channels.0.models.0: not served, because no price is set: voxa-v3-plus, voxa-v3-flash.',
    ],
    [
      'a model without a price that the sandbox serves as well',
      withModels('[voxa-v1]', 'sandbox: true\n'),
      5,
      'channels.0.models.0: not served, because no price is set: voxa-v1.',
    ],
    [
      'a pattern outside the catalog without a price',
      withModels('["house-*"]', 'prices: {}\n', 'protocol: messages'),
      5,
      'channels.0.models.0: not served, because no price is set: house-*.',
    ],
    [
      'a price for a misspelt model',
      withModels('["*"]', 'prices:\n  "*": 1\n  voxa-v22: 3\n'),
      8,
      'prices.voxa-v22: no channel serves such a model.',
    ],
    [
      'a price for a pattern that matches nothing',
      withModels('["*"]', 'prices: { "*": 1, "voxas*": 3 }\n'),
      6,
      'prices.voxas*: no channel serves such a model.',
    ],
    [
      'a model of a group that no channel serves to it',
      withModels(
        '[voxa-v2]',
        'prices: { "*": 1 }\ngroups:\n  default: { models: ["*"] }\n  trial: { models: [voxa-v2] }\n',
        'protocol: native\n    groups: [default]',
      ),
      10,
      'groups.trial.models.0: no channel that is open to this group serves voxa-v2.',
    ],
    [
      'a model that the protocol of its channel does not have',
      withModels('[eta-imagine-video]', 'prices: { "*": 1 }\n'),
      5,
      'channels.0.models.0: the catalog has no native model eta-imagine-video, so nothing is served.',
    ],
    [
      'a model of a native channel that is not in the catalog',
      withModels('[voxa-v22]', 'prices: { "*": 1 }\n'),
      5,
      'channels.0.models.0: the catalog has no native model voxa-v22, so only the generic video routes serve it.',
    ],
    [
      'a model that no group may use',
      withModels('[voxa-v2]', 'prices: { "*": 1 }\ngroups: { default: { models: ["*3*"] } }\n'),
      5,
      'channels.0.models.0: no group may use voxa-v2.',
    ],
  ])('%s', (_name, yaml, line, words) => {
    expect(warningsOf(yaml)).toEqual(expect.arrayContaining(onLine(line, words)));
  });
});
