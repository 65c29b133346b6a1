//! The options as ghz writes them into its report, under its names and in nanoseconds; ours
//! stand after them.

use super::{DurationStop, Io, Options, SchemaSource, Until};
use crate::payload::DataSource;
use crate::plan::Connecting;
use crate::targets::Strategy;
use bookend_io::Wait;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// ghz's stand-in for "as many as the duration lets through".
const TOTAL_WITHOUT_LIMIT: u64 = i32::MAX as u64;

impl Options {
    /// The options for [`LoadReport::options`](bookend_contract::report::LoadReport::options).
    pub fn echo(&self) -> Value {
        let mut fields = Map::new();
        self.echo_call(&mut fields);
        self.echo_load(&mut fields);
        self.echo_ours(&mut fields);
        fields.retain(|_, value| !is_unset(value));
        Value::Object(fields)
    }

    fn echo_call(&self, fields: &mut Map<String, Value>) {
        fields.insert("call".into(), json!(self.call));
        fields.insert("host".into(), json!(self.targets.to_string()));
        match &self.schema {
            SchemaSource::Proto { file, import_paths } => {
                fields.insert("proto".into(), json!(file));
                fields.insert("import-paths".into(), json!(import_paths));
            }
            SchemaSource::Protoset(file) => {
                fields.insert("protoset".into(), json!(file));
            }
            SchemaSource::Reflection => {}
        }
        self.echo_security(fields);
        fields.insert("authority".into(), json!(self.authority));
        let strategy = self.strategy.map(Strategy::name);
        fields.insert("lb-strategy".into(), json!(strategy));
        self.echo_data(fields);
    }

    fn echo_security(&self, fields: &mut Map<String, Value>) {
        let Some(tls) = self.security.tls() else {
            fields.insert("insecure".into(), json!(true));
            return;
        };
        let (certificate, key) = tls.identity().unzip();
        fields.insert("cacert".into(), json!(tls.authorities()));
        fields.insert("cert".into(), json!(certificate));
        fields.insert("key".into(), json!(key));
        fields.insert("cname".into(), json!(tls.server_name()));
        fields.insert("skipTLS".into(), json!(tls.skips_verification()));
        fields.insert("insecure".into(), json!(false));
    }

    fn echo_data(&self, fields: &mut Map<String, Value>) {
        let binary = matches!(
            self.data,
            DataSource::BinaryFile(_) | DataSource::BinaryInput
        );
        fields.insert("binary".into(), json!(binary));
        match &self.data {
            DataSource::Json(text) => {
                let data = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
                fields.insert("data".into(), data);
            }
            DataSource::JsonFile(file) | DataSource::BinaryFile(file) => {
                fields.insert("data-file".into(), json!(file));
            }
            DataSource::Nothing | DataSource::JsonInput | DataSource::BinaryInput => {}
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let metadata: Map<String, Value> = self
            .metadata
            .constant
            .iter()
            .map(|(name, value)| (text(name), json!(text(value))))
            .collect();
        fields.insert("metadata".into(), Value::Object(metadata));
    }

    fn echo_load(&self, fields: &mut Map<String, Value>) {
        let total = self.until.calls().unwrap_or(TOTAL_WITHOUT_LIMIT);
        fields.insert("load-schedule".into(), json!("const"));
        fields.insert("concurrency-schedule".into(), json!("const"));
        fields.insert("concurrency".into(), json!(self.concurrency));
        fields.insert("connections".into(), json!(self.connections));
        fields.insert("total".into(), json!(total));
        fields.insert("async".into(), json!(false));
        if let Until::Elapsed(elapsed) | Until::Either { elapsed, .. } = self.until {
            fields.insert("duration".into(), nanoseconds(elapsed));
        }
        fields.insert(
            "timeout".into(),
            nanoseconds(self.timeout.unwrap_or_default()),
        );
        fields.insert(
            "dial-timeout".into(),
            nanoseconds(self.connect_timeout.unwrap_or_default()),
        );
        fields.insert(
            "keepalive".into(),
            nanoseconds(self.keepalive.unwrap_or_default()),
        );
        fields.insert("name".into(), json!(self.name));
        fields.insert("count-errors".into(), json!(self.count_errors));
    }

    fn echo_ours(&self, fields: &mut Map<String, Value>) {
        let io = match self.io {
            Io::Auto => "auto",
            Io::Blocking => "blocking",
            Io::Epoll => "epoll",
            Io::Uring => "uring",
        };
        let stop = match self.duration_stop {
            DurationStop::Close => "close",
            DurationStop::Wait => "wait",
            DurationStop::Ignore => "ignore",
        };
        fields.insert("CPUs".into(), json!(self.threads));
        fields.insert("duration-stop".into(), json!(stop));
        fields.insert("io".into(), json!(io));
        fields.insert("warmup".into(), nanoseconds(self.warmup));
        if self.wait == Wait::Spin {
            fields.insert("wait".into(), json!("spin"));
        }
        match self.connecting {
            Connecting::BeforeRun => None,
            Connecting::InRun => fields.insert("connects-in-window".into(), json!(true)),
            Connecting::PerCall => fields.insert("one-shot".into(), json!(true)),
        };
        let varying = self
            .metadata
            .varying
            .as_deref()
            .map(String::from_utf8_lossy);
        fields.insert("varying-metadata".into(), json!(varying));
    }
}

fn nanoseconds(duration: Duration) -> Value {
    json!(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// ghz leaves out what is empty or zero, but not what is false.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) => false,
    }
}
