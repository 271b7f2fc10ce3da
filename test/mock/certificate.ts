import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

export interface Certificate {
  cert: string;
  key: string;
  /** Path of the certificate in PEM format. */
  file: string;
  /** SHA-256 fingerprint. */
  fingerprint: string;
}

const validDays = 365;
const dayMs = 24 * 60 * 60 * 1000;
const localNames = ['localhost', '127.0.0.1', '::1'];

/**
 * Reads the self-signed certificate from a folder. Creates one for `host` and the loopback names if there is none that is
 * valid for another day.
 */
export async function loadCertificate(
  folder: string,
  host: string,
  now: number = Date.now(),
): Promise<Certificate> {
  const names = [...new Set([...localNames, host])];
  const [file, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const stored = await Promise.all([readFile(file, 'utf8'), readFile(keyFile, 'utf8')]).catch(
    () => undefined,
  );
  if (stored !== undefined && isUsable(stored[0], names, now)) return describe(stored[0], stored[1], file);
  const { cert, private: key } = await createCertificate(names, now);
  await mkdir(folder, { recursive: true });
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(file, cert);
  return describe(cert, key, file);
}

function describe(cert: string, key: string, file: string): Certificate {
  return { cert, key, file, fingerprint: new X509Certificate(cert).fingerprint256 };
}

function isUsable(pem: string, names: readonly string[], now: number): boolean {
  const certificate = new X509Certificate(pem);
  const hasName = (name: string) =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return certificate.validToDate.getTime() > now + dayMs && names.every(hasName);
}

async function createCertificate(names: readonly string[], now: number) {
  const { generate } = await import('selfsigned');
  return generate([{ name: 'commonName', value: 'Unigate mock' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - dayMs),
    notAfterDate: new Date(now + validDays * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
  });
}
