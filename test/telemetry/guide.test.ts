import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { familyName } from '../../server/telemetry/exposition.ts';
import { allMetrics } from '../../server/telemetry/metrics.ts';
import { alerts } from '../../server/telemetry/monitoring/alerts.ts';

const guide = readFileSync(new URL('../../openapi/guides/19-monitoring.md', import.meta.url), 'utf8');

test('the guide lists exactly the exported metrics, by their exposed names', () => {
  const rows = allMetrics.map(({ descriptor, kind }) => {
    const name = familyName(descriptor) + (kind === 'counter' ? '_total' : '');
    const labels = (descriptor.attributes ?? []).map((label) => `\`${label.replaceAll('.', '_')}\``);
    return `| \`${name}\` | ${descriptor.description} | ${labels.join(', ')} |`;
  });
  const [, after = ''] = guide.split('| metric | description | labels |\n|---|---|---|\n');
  expect(after.split('\n\n', 1)[0]?.trim().split('\n')).toEqual(rows);
});

test('the guide lists exactly the alerts', () => {
  const rows = alerts.map(({ name, severity, summary }) => `| \`${name}\` | ${severity} | ${summary} |`);
  const [, after = ''] = guide.split('| alert | severity | meaning |\n|---|---|---|\n');
  expect(after.split('\n\n', 1)[0]?.trim().split('\n')).toEqual(rows);
});

test('every metric has a unique name and a description that is a full sentence', () => {
  const names = allMetrics.map(({ descriptor }) => descriptor.name);
  expect(new Set(names).size).toBe(names.length);
  for (const { descriptor } of allMetrics) expect(descriptor.description).toMatch(/^[A-Z0-9].*\.$/);
});
