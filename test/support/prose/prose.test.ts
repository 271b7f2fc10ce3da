import { describe, expect, test } from 'vitest';
import { withoutExceptions } from './exceptions.ts';
import { lintText } from './lint.ts';

/** The findings as `line:column message`. */
const found = async (file: string, text: string) =>
  (await lintText(file, text)).map(({ line, column, message }) => `${line}:${column} ${message}`);

const term = (word: string, replacement: string) => `Incorrect term: “${word}”, use “${replacement}” instead`;
const start = (word: string) => `Sentence starts with “${word}”. Name the subject.`;

test.each([
  ['The floors of the server.', 'floors', 'layer'],
  ['Its rooms import downwards.', 'rooms', 'module'],
  ['The key is told at once.', 'told', 'report, return, send, log or state'],
  ['A gateway says why.', 'says', 'report, return, state or specify'],
  ['The proof of the key.', 'proof', 'audit'],
  ['It closes the books.', 'books', 'ledger'],
  ['At the most three.', 'At the most', 'At most'],
  ['It sends so many requests.', 'so many', 'up to N, or as many as'],
  ['All keys but for one.', 'but for', 'except'],
  ['It starts anew.', 'anew', 'again'],
  ['For whoever asks.', 'whoever', 'any client that'],
  ['Its behaviour changes.', 'behaviour', 'behavior'],
  ['It serialises the row.', 'serialises', 'serializes'],
  ["It doesn't wait.", "doesn't", 'no contractions'],
])('finds the term in "%s"', async (text, word, replacement) => {
  const findings = await found('guide.md', `# Title\n\n${text}\n`);
  expect(findings).toEqual([`3:${text.indexOf(word) + 1} ${term(word, replacement)}`]);
});

test.each(['What', 'Who', 'That', 'So many'])('finds a sentence that starts with "%s"', async (word) => {
  const text = `${word} fails is repeated.\n\nIt ends. ${word} fails is repeated.\n`;
  const findings = await found('guide.md', text);
  expect(findings).toContain(`1:1 ${start(word)}`);
  expect(findings).toContain(`3:10 ${start(word)}`);
});

test('finds sentence starts in headings, list items and table cells', async () => {
  const text = '# Who pays\n\n- What fails\n\n| a | b |\n|---|---|\n| one | That is it |\n';
  expect(await found('guide.md', text)).toEqual([
    `1:3 ${start('Who')}`,
    `3:3 ${start('What')}`,
    `7:9 ${start('That')}`,
  ]);
});

test('accepts plain technical English', async () => {
  const text = 'The gateway reserves quota before a call. It reports what it charged, and who paid.\n';
  expect(await found('guide.md', text)).toEqual([]);
});

test('ignores code in Markdown', async () => {
  const text = 'Set `books.keep_days`.\n\n```sh\n# What is told\n```\n\n<!-- run: the books -->\n';
  expect(await found('guide.md', text)).toEqual([]);
});

describe('in TypeScript', () => {
  test('finds terms in comments of every form, with their line and column', async () => {
    const text = [
      '/** The rooms of it. */',
      "const told = 'told'; // What is told.",
      '/*',
      ' * A text of',
      ' * two lines. So',
      ' * many lines.',
      ' */',
    ].join('\n');
    const replacement = 'report, return, send, log or state';
    expect((await found('a.ts', text)).toSorted()).toEqual(
      [
        `1:9 ${term('rooms', 'module')}`,
        `2:25 ${start('What')}`,
        `2:33 ${term('told', replacement)}`,
        `5:15 ${start('So\n   many')}`,
        `5:15 ${term('So\n   many', 'Up to N, or as many as')}`,
      ].toSorted(),
    );
  });

  test('reads line comments below each other as one text', async () => {
    const text = '// The key that\n// That is.\n\n// That is.\n';
    expect(await found('a.ts', text)).toEqual([`4:4 ${start('That')}`]);
  });

  test('ignores strings, code spans, links, tags and directives', async () => {
    const text = [
      "const url = 'https://told.example'; // See https://says.example/told",
      '/**',
      ' * Reads `told` of {@link told}.',
      ' * @param told the value',
      ' * @throws told',
      ' */',
      '// biome-ignore lint: told',
      '// @ts-expect-error told',
    ].join('\n');
    expect(await found('a.ts', text)).toEqual([`5:12 ${term('told', 'report, return, send, log or state')}`]);
  });

  test('reads JavaScript', async () => {
    expect(await found('a.js', '// A floor.\nexport {};\n')).toEqual([`1:6 ${term('floor', 'layer')}`]);
  });
});

describe('in specs', () => {
  test('finds terms in descriptions, summaries and decisions', async () => {
    const text = [
      'summary: Prove the books.',
      'description: |-',
      '  A key is',
      '  told so.',
      '',
      '  What fails is free.',
      'schema:',
      '  x-decision: "That is ours."',
      '  properties: [{ description: >',
      '    The room. }]',
    ];
    expect(await found('a.yaml', `${text.slice(0, 8).join('\n')}\n`)).toEqual([
      `1:20 ${term('books', 'ledger')}`,
      `4:3 ${term('told', 'report, return, send, log or state')}`,
      `6:3 ${start('What')}`,
      `8:16 ${start('That')}`,
    ]);
  });

  test('ignores comments, code spans, names and examples', async () => {
    const text =
      '# told\nroom:\n  description: A `room`.\n  example: { description: told }\nvalue: { summary: told }\n';
    expect(await found('a.yaml', text)).toEqual([]);
  });
});

test('an exception permits its finding, and is reported when no finding needs it', async () => {
  const findings = await lintText('a.md', 'A floor of wood.\n\nA floor of stone.\n');
  const exception = (text: string) => ({ file: 'a.md', text, reason: 'Test.' });
  const exceptions = [exception('wood'), exception('glass')];
  const result = withoutExceptions(findings, exceptions);
  expect(result.findings.map(({ line }) => line)).toEqual([3]);
  expect(result.unused).toEqual([exception('glass')]);
});
