import { describe, expect, test } from 'vitest';
import { formatAmount } from '../../client/index.ts';

const euro = { quota_per_unit: 500_000, currency: 'EUR' };

describe('formatAmount', () => {
  test.each([
    [0, '€0.00'],
    [-0, '€0.00'],
    [1, '€0.000002'],
    [21, '€0.000042'],
    [7_450, '€0.015'],
    [250_000, '€0.50'],
    [600_000_000, '€1,200.00'],
    [-750_000, '-€1.50'],
  ])('formats %d quota as %s', (quota, text) => expect(formatAmount(quota, euro, 'en')).toBe(text));

  test('uses the digits of the currency and the form of the locale', () => {
    expect(formatAmount(750_000_000, { ...euro, currency: 'JPY' }, 'en')).toBe('¥1,500');
    expect(formatAmount(750_000, { ...euro, currency: 'KWD' }, 'de')).toBe('1,500\u00a0KWD');
  });

  test('formats the smallest amount of every configuration', () => {
    const smallest = formatAmount(1, { quota_per_unit: 1e12, currency: 'EUR' }, 'en');
    expect(smallest).toBe('€0.000000000001');
    expect(formatAmount(1, { quota_per_unit: Number.MIN_VALUE, currency: 'EUR' }, 'en')).toBe('€∞');
  });
});
