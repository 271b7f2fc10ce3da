/** A decimal number: `digits` times 10 to the power of `-scale`. */
interface Decimal {
  digits: bigint;
  scale: number;
}

/** Returns the decimal that a number is written as, so that 0.1 is exactly one tenth. @throws RangeError unless finite and 0 or more */
function decimalOf(value: number): Decimal {
  if (!(Number.isFinite(value) && value >= 0)) throw new RangeError(`cannot price with ${value}`);
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function multiply(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, scale: left.scale + right.scale };
}

function alignedDigits({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

/** Returns the sum of products as a decimal. */
function sumOf(products: readonly (readonly [number, number])[]): Decimal {
  return products
    .map(([left, right]) => multiply(decimalOf(left), decimalOf(right)))
    .reduce(
      (sum, product) => {
        const scale = Math.max(sum.scale, product.scale);
        return { digits: alignedDigits(sum, scale) + alignedDigits(product, scale), scale };
      },
      { digits: 0n, scale: 0 },
    );
}

/**
 * Returns the sum of products, at least `minimum`, times `ratio`, calculated exactly in decimal and rounded up once. Throws
 * RangeError when a factor is negative or not finite, or the result is 2^53 or more.
 */
export function exactCost(
  products: readonly (readonly [number, number])[],
  minimum: number,
  ratio: number,
): number {
  const sum = sumOf(products);
  const least = decimalOf(minimum);
  const scale = Math.max(sum.scale, least.scale);
  const isLess = alignedDigits(sum, scale) < alignedDigits(least, scale);
  const exact = multiply(isLess ? least : sum, decimalOf(ratio));
  const one = 10n ** BigInt(exact.scale);
  const quota = Number((exact.digits + one - 1n) / one);
  if (!Number.isSafeInteger(quota)) throw new RangeError('the price of the usage is too large');
  return quota;
}
