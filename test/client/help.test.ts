import { describe, expect, test } from 'vitest';
import { commands as adminCommands } from '../../client/commands/admin/commands.ts';
import { commands } from '../../client/commands/commands.ts';
import { runCommand } from './terminal.ts';

const all: [string, string[], readonly string[]][] = [
  ...Object.entries(commands).map(([name, { options, examples }]): [string, string[], readonly string[]] => [
    name,
    Object.keys(options),
    examples.map((example) => `unigate ${example}`),
  ]),
  ...Object.entries(adminCommands).map(([name, { options, examples }]): (typeof all)[number] => [
    `admin ${name}`,
    [...Object.keys(options), 'json'],
    examples.map((example) => `unigate admin ${example}`),
  ]),
];

describe('help', () => {
  test.each([['--help'], ['-h'], ['help']])('%s lists every command', async (...args) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stderr]).toEqual([0, '']);
    for (const name of [...Object.keys(commands), 'admin', 'help'])
      expect(stdout.toString()).toMatch(new RegExp(`^  ${name} .*\\w`, 'm'));
  });

  test.each(all)('%s shows its options, the global options and examples', async (name, options, examples) => {
    const { code, stdout } = await runCommand([...name.split(' '), '--help']);
    const help = stdout.toString();
    expect(code).toBe(0);
    expect(help).toMatch(new RegExp(`^Usage: unigate ${name} \\[options\\]`));
    for (const option of [...options, 'base-url', 'key', 'quiet', 'help'])
      expect(help).toMatch(new RegExp(`^ .*--${option}( |$)`, 'm'));
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(help).toContain(`  ${example}\n`);
    expect((await runCommand(['help', ...name.split(' ')])).stdout.toString()).toBe(help);
  });

  test('names an option that is required', async () => {
    const { stdout } = await runCommand(['admin', 'refund', '--help']);
    expect(stdout.toString()).toMatch(/^ +--reason <text> .*\(required\)$/m);
  });

  test('of a word that is no command is a usage error', async () => {
    const { code, stderr } = await runCommand(['help', 'speek']);
    expect([code, stderr]).toEqual([
      2,
      `unigate: Unknown command 'speek'. Did you mean speak? See unigate --help.\n`,
    ]);
    expect(await runCommand(['help', 'speak', 'Hi.'])).toMatchObject({ code: 2 });
  });
});

describe('suggestions', () => {
  test.each([
    [['speek'], `Unknown command 'speek'. Did you mean speak?`],
    [['admin', 'key'], `Unknown command 'key'. Did you mean keys?`],
    [['admin', 'keys', 'creat'], `Unknown command 'creat'. Did you mean create?`],
    [['voices', 'lst'], `Unknown command 'lst'. Commands: clone, design, list, delete.`],
    [['speak', 'Hi.', '--vioce', 'Aria'], `Unknown option '--vioce'. Did you mean --voice?`],
    [['models', '--qiet'], `Unknown option '--qiet'. Did you mean --quiet?`],
    [['admin', 'keys', 'list', '--stats', 'x'], `Unknown option '--stats'. Did you mean --status?`],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`unigate: ${message} See unigate `);
  });

  test('never repeat the value of a misspelled option', async () => {
    const { code, stderr } = await runCommand(['models', '--kye=sk-secret']);
    expect([code, stderr]).toEqual([2, `unigate: Unknown option '--kye'. See unigate --help.\n`]);
  });
});
