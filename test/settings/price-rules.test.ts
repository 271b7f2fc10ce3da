import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'unigate-price-rules-'));
const file = join(folder, 'gateway.yaml');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(yaml: string) {
  writeFileSync(file, yaml);
  return readSettings({ CONFIG: file });
}

const errorsOf = (yaml: string) => {
  try {
    read(yaml);
  } catch (error) {
    return (error as Error).message.replaceAll(file, '').split('\n');
  }
  return [];
};

const withRules = (rules: string, model = 'gamma3.0-video') => `sandbox: true
prices:
  ${model}:
${rules
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`;

test('rules are read as they are written', () => {
  const { prices, warnings } = read(
    withRules(`- when: { resolution: [720p, 1080p], ratio: 16:9, duration: { max: 10 }, audio: true }
  per: { completion_tokens: 5.1 }
  minimum: 1000
- per: { seconds: 2 }`),
  );
  expect(prices['gamma3.0-video']).toEqual([
    {
      when: { resolution: ['720p', '1080p'], ratio: '16:9', duration: { max: 10 }, audio: true },
      per: { completion_tokens: 5.1 },
      minimum: 1000,
    },
    { per: { seconds: 2 } },
  ]);
  expect(warnings).toEqual([]);
});

describe('an error names the line and the place', () => {
  test.each([
    ['an empty list', '[]', ['3: prices.gamma3.0-video must NOT have fewer than 1 items.']],
    [
      'an unknown field',
      '- when: { color: red }\n  per: { units: 1 }\n- per: { units: 1 }',
      ['4: prices.gamma3.0-video.0.when.color is not a known setting.'],
    ],
    [
      'an unknown figure',
      '- per: { words: 1 }',
      ['4: prices.gamma3.0-video.0.per.words is not a known setting.'],
    ],
    ['a negative price', '- per:\n    units: -1', ['5: prices.gamma3.0-video.0.per.units must be >= 0.']],
    [
      'a rule without a price',
      '- when: { audio: true }\n- per: { units: 1 }',
      ['4: prices.gamma3.0-video.0: a rule needs `per` or `minimum`.'],
    ],
    [
      'a last rule with conditions',
      '- per: { units: 2 }\n- when: { audio: true }\n  per: { units: 1 }',
      ['5: prices.gamma3.0-video.1: the last rule must have no `when`, so that every request has a price.'],
    ],
    [
      'a range in the wrong order',
      '- when:\n    duration: { min: 9, max: 8 }\n  per: { units: 1 }\n- per: { units: 1 }',
      ['5: prices.gamma3.0-video.0.when.duration: `min` must be at most `max`.'],
    ],
    [
      'a figure that the usage of the model does not have',
      '- per: { units: 1 }\n- per: { input_tokens: 1 }',
      [
        '5: prices.gamma3.0-video.1.per.input_tokens: the usage of gamma3.0-video has no such figure; it is metered in seconds.',
      ],
    ],
  ])('%s', (_words, rules, problems) => {
    expect(errorsOf(withRules(rules))).toEqual(problems.map((problem) => `:${problem}`));
  });

  test('a figure that one model of a pattern does not have', () => {
    const problems = errorsOf(withRules('- per: { completion_tokens: 1 }', '"*"'));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      /^:4: prices\.\*\.0\.per\.completion_tokens: the usage of \S+ has no such figure/,
    );
  });

  test('a figure of a model outside the catalog', () => {
    const channel = `prices:
  house-*: [{ per: { seconds: 1 } }]
channels:
  - { name: a, protocol: messages, base_url: 'https://a.example', models: [house-chat] }
`;
    expect(errorsOf(channel)).toEqual([
      ':2: prices.house-*.0.per.seconds: the usage of house-chat has no such figure; it is metered in tokens.',
    ]);
  });
});

test('costs of a channel are checked like prices', () => {
  const channel = (costs: string) => `channels:
  - name: a
    protocol: messages
    base_url: https://a.example
    models: [iota-chat-1]
    costs:
      iota-chat-1: ${costs}
`;
  expect(errorsOf(channel('[{ per: { seconds: 1 } }]'))).toEqual([
    ':7: channels.0.costs.iota-chat-1.0.per.seconds: the usage of iota-chat-1 has no such figure; it is metered in tokens.',
  ]);
  expect(read(channel('[{ per: { input_tokens: 1, output_tokens: 5 } }]')).channels[0]?.costs).toEqual({
    'iota-chat-1': [{ per: { input_tokens: 1, output_tokens: 5 } }],
  });
});

describe('a warning names a rule that never applies', () => {
  const warningsOf = (rules: string, model?: string) =>
    read(withRules(rules, model)).warnings.map((line) => line.replaceAll(file, ''));

  test('since an earlier one applies', () => {
    expect(warningsOf('- per: { units: 1 }\n- per: { units: 2 }')).toEqual([
      ':5: prices.gamma3.0-video.1: this rule never applies, because rule 1 applies to the same requests.',
    ]);
  });

  test('since no request has the field', () => {
    expect(warningsOf('- when: { voice: cloned }\n  per: { units: 1 }\n- per: { units: 2 }')).toEqual([
      ':4: prices.gamma3.0-video.0: this rule never applies, because no request for such a model has voice.',
    ]);
    expect(
      warningsOf(
        '- when: { service_tier: flex }\n  per: { units: 1 }\n- per: { units: 2 }',
        'epsilon-delta-2-5-260628',
      ),
    ).toEqual([]);
    expect(
      warningsOf('- when: { task: gen_stem }\n  per: { tracks: 1 }\n- per: { tracks: 2 }', 'sigma_music'),
    ).toEqual([]);
    expect(
      warningsOf('- when: { action: upscale }\n  per: { actions: 1 }\n- per: { actions: 2 }', 'imgjob_image'),
    ).toEqual([]);
  });
});
