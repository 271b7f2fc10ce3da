import { expect, test } from 'vitest';
import { databaseUrl, engines } from '../store/engines.ts';
import { soak } from './soak.ts';

test.each(engines)(
  'some seconds of everything at once, with kills, leave nothing wrong on %s',
  { timeout: 300_000 },
  async (engine) => {
    const database = engine === 'postgres' ? databaseUrl : undefined;
    const report = await soak({
      seconds: 12,
      seed: 13,
      database,
      nodes: engine === 'postgres' ? 2 : 1,
      customers: 8,
      rate: 20,
      onPhase: () => {},
    });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.tasks).toBeGreaterThan(0);
    expect(report.books.spent).toBeGreaterThan(0);
  },
);
