/// Sends back what came.
#[allow(dead_code)]
pub trait Every: ::core::marker::Send + ::core::marker::Sync + 'static {
    /// The method `Echo`.
    fn echo(
        &self,
        request: borrowed::RecordView<'_>,
        reply: &mut borrowed::RecordWriter<'_>,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::result::Result<(), ::bookend_server::Status>;
    /// The same with messages of prost.
    fn copy(
        &self,
        request: Record,
        context: &::bookend_server::Context<'_>,
    ) -> ::core::result::Result<Record, ::bookend_server::Status>;
}
/// Serves an implementation of [`Every`].
#[allow(dead_code)]
#[derive(Debug, Clone)]
pub struct EveryServer<T>(T);
#[allow(dead_code)]
impl<T: Every> EveryServer<T> {
    /// The service's name on the wire.
    pub const NAME: &'static str = "every.v1.Every";
    /// Gives `service` the form that a server takes.
    pub fn new(service: T) -> Self {
        Self(service)
    }
}
impl<T: Every> ::bookend_server::Service for EveryServer<T> {
    fn name(&self) -> &'static str {
        Self::NAME
    }
    fn methods(&self) -> &'static [::bookend_server::MethodDescriptor] {
        &[
            ::bookend_server::MethodDescriptor { name: "Echo", kind: ::bookend_server::HandlerKind::Inline },
            ::bookend_server::MethodDescriptor { name: "Copy", kind: ::bookend_server::HandlerKind::Inline },
        ]
    }
    fn descriptors(&self) -> &'static [u8] {
        FILE_DESCRIPTOR_SET
    }
    fn call(
        &self,
        method: usize,
        request: &[u8],
        context: &::bookend_server::Context<'_>,
        reply: ::bookend_server::Reply<'_>,
    ) {
        match method {
            0 => ::bookend_server::borrowed::unary::<Record>(request, reply, |request, reply| {
                let request = ::bookend_server::borrowed::read(request)?;
                let mut reply = ::bookend_server::borrowed::MessageWriter::over(reply);
                ::core::result::Result::Ok(self.0.echo(request, &mut reply, context))
            }),
            1 => ::bookend_server::codec::inline(request, reply, |request| {
                self.0.copy(request, context)
            }),
            _ => reply.no_such_method(),
        }
    }
    fn decoder(
        &self,
        method: usize,
    ) -> ::core::option::Option<::bookend_server::RequestDecoder> {
        match method {
            0 => ::core::option::Option::Some(|request| {
                let view = ::bookend_server::borrowed::read::<borrowed::RecordView<'_>>(request);
                ::bookend_server::borrowed::prepared::<Record>(request, view.is_ok())
            }),
            1 => ::core::option::Option::Some(::bookend_server::codec::decode::<Record>),
            _ => ::core::option::Option::None,
        }
    }
}
/// Messages that are read and written in place.
#[allow(clippy::all, dead_code, missing_docs)]
pub mod borrowed {
    use ::bookend_server::borrowed as support;
    /// `every.v1.Record`, read in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RecordView<'a> {
        /// `a_double`.
        pub a_double: f64,
        /// `a_float`.
        pub a_float: f32,
        /// `an_int32`.
        pub an_int32: i32,
        /// `an_int64`.
        pub an_int64: i64,
        /// `a_uint32`.
        pub a_uint32: u32,
        /// `a_uint64`.
        pub a_uint64: u64,
        /// `a_sint32`.
        pub a_sint32: i32,
        /// `a_sint64`.
        pub a_sint64: i64,
        /// `a_fixed32`.
        pub a_fixed32: u32,
        /// `a_fixed64`.
        pub a_fixed64: u64,
        /// `a_sfixed32`.
        pub a_sfixed32: i32,
        /// `a_sfixed64`.
        pub a_sfixed64: i64,
        /// `a_bool`.
        pub a_bool: bool,
        /// `r#type`.
        pub r#type: &'a str,
        /// `blob`.
        pub blob: &'a [u8],
        /// `color`.
        pub color: i32,
        /// `part`.
        pub part: ::core::option::Option<RecordPartView<'a>>,
        /// `maybe_number`.
        pub maybe_number: ::core::option::Option<i32>,
        /// `maybe_text`.
        pub maybe_text: ::core::option::Option<&'a str>,
        /// `names`.
        pub names: support::Repeated<'a, support::Utf8>,
        /// `blobs`.
        pub blobs: support::Repeated<'a, support::Blob>,
        /// `parts`.
        pub parts: support::Repeated<'a, RecordPartView<'a>>,
        /// `numbers`.
        pub numbers: support::Repeated<'a, support::Sint32>,
        /// `doubles`.
        pub doubles: support::Repeated<'a, support::Double>,
        /// `colors`.
        pub colors: support::Repeated<'a, support::Int32>,
        /// `by_name`.
        pub by_name: support::Repeated<'a, RecordByNameEntryView<'a>>,
        /// `nothing`.
        pub nothing: ::core::option::Option<RecordNothingView<'a>>,
        /// `far`.
        pub far: i32,
        /// `choice`.
        pub choice: ::core::option::Option<RecordChoiceView<'a>>,
        /// `flag`.
        pub flag: ::core::option::Option<RecordFlagView>,
    }
    /// `choice` of `every.v1.Record`.
    #[derive(Clone, Copy, Debug)]
    pub enum RecordChoiceView<'a> {
        /// `note`.
        Note(&'a str),
        /// `agreed`.
        Agreed(bool),
        /// `spare_part`.
        SparePart(RecordPartView<'a>),
    }
    /// `flag` of `every.v1.Record`.
    #[derive(Clone, Copy, Debug)]
    pub enum RecordFlagView {
        /// `number_flag`.
        NumberFlag(i32),
        /// `bool_flag`.
        BoolFlag(bool),
    }
    impl<'a> support::MessageView<'a> for RecordView<'a> {
        #[inline]
        fn field(
            &mut self,
            key: u32,
            fields: &mut support::FieldReader<'a>,
        ) -> ::core::result::Result<(), support::NotInPlace> {
            match key {
                9 => self.a_double = fields.read::<support::Double>()?,
                21 => self.a_float = fields.read::<support::Float>()?,
                24 => self.an_int32 = fields.read::<support::Int32>()?,
                32 => self.an_int64 = fields.read::<support::Int64>()?,
                40 => self.a_uint32 = fields.read::<support::Uint32>()?,
                48 => self.a_uint64 = fields.read::<support::Uint64>()?,
                56 => self.a_sint32 = fields.read::<support::Sint32>()?,
                64 => self.a_sint64 = fields.read::<support::Sint64>()?,
                77 => self.a_fixed32 = fields.read::<support::Fixed32>()?,
                81 => self.a_fixed64 = fields.read::<support::Fixed64>()?,
                93 => self.a_sfixed32 = fields.read::<support::Sfixed32>()?,
                97 => self.a_sfixed64 = fields.read::<support::Sfixed64>()?,
                104 => self.a_bool = fields.read::<support::Bool>()?,
                114 => self.r#type = fields.read::<support::Utf8>()?,
                122 => self.blob = fields.read::<support::Blob>()?,
                128 => self.color = fields.read::<support::Int32>()?,
                138 => fields.once::<RecordPartView<'a>>(&mut self.part)?,
                144 => self.maybe_number = ::core::option::Option::Some(fields.read::<support::Int32>()?),
                154 => self.maybe_text = ::core::option::Option::Some(fields.read::<support::Utf8>()?),
                162 => self.choice = ::core::option::Option::Some(RecordChoiceView::Note(fields.read::<support::Utf8>()?)),
                168 => self.choice = ::core::option::Option::Some(RecordChoiceView::Agreed(fields.read::<support::Bool>()?)),
                178 => match self.choice {
                    ::core::option::Option::Some(RecordChoiceView::SparePart(_)) => {
                        return ::core::result::Result::Err(support::NotInPlace);
                    }
                    _ => self.choice = ::core::option::Option::Some(RecordChoiceView::SparePart(fields.read::<RecordPartView<'a>>()?)),
                },
                186 => self.names.note(key, fields)?,
                194 => self.blobs.note(key, fields)?,
                202 => self.parts.note(key, fields)?,
                208 | 210 => self.numbers.note(key, fields)?,
                217 | 218 => self.doubles.note(key, fields)?,
                224 | 226 => self.colors.note(key, fields)?,
                234 => self.by_name.note(key, fields)?,
                242 => fields.once::<RecordNothingView<'a>>(&mut self.nothing)?,
                248 => self.flag = ::core::option::Option::Some(RecordFlagView::NumberFlag(fields.read::<support::Int32>()?)),
                256 => self.flag = ::core::option::Option::Some(RecordFlagView::BoolFlag(fields.read::<support::Bool>()?)),
                8000 => self.far = fields.read::<support::Int32>()?,
                _ => fields.skip(key, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1000])?,
            }
            ::core::result::Result::Ok(())
        }
    }
    impl RecordView<'_> {
        /// Writes all fields.
        pub fn copy_to(&self, writer: &mut RecordWriter<'_>) {
            writer.a_double(self.a_double);
            writer.a_float(self.a_float);
            writer.an_int32(self.an_int32);
            writer.an_int64(self.an_int64);
            writer.a_uint32(self.a_uint32);
            writer.a_uint64(self.a_uint64);
            writer.a_sint32(self.a_sint32);
            writer.a_sint64(self.a_sint64);
            writer.a_fixed32(self.a_fixed32);
            writer.a_fixed64(self.a_fixed64);
            writer.a_sfixed32(self.a_sfixed32);
            writer.a_sfixed64(self.a_sfixed64);
            writer.a_bool(self.a_bool);
            writer.r#type(self.r#type);
            writer.blob(self.blob);
            writer.color(self.color);
            if let ::core::option::Option::Some(value) = self.part {
                writer.part(|writer| value.copy_to(writer));
            }
            if let ::core::option::Option::Some(value) = self.maybe_number {
                writer.maybe_number(value);
            }
            if let ::core::option::Option::Some(value) = self.maybe_text {
                writer.maybe_text(value);
            }
            for value in self.names {
                writer.names(value);
            }
            for value in self.blobs {
                writer.blobs(value);
            }
            for value in self.parts {
                writer.parts(|writer| value.copy_to(writer));
            }
            writer.numbers(self.numbers);
            writer.doubles(self.doubles);
            writer.colors(self.colors);
            for value in self.by_name {
                writer.by_name(|writer| value.copy_to(writer));
            }
            if let ::core::option::Option::Some(value) = self.nothing {
                writer.nothing(|writer| value.copy_to(writer));
            }
            writer.far(self.far);
            match self.choice {
                ::core::option::Option::Some(RecordChoiceView::Note(value)) => {
                    writer.note(value);
                }
                ::core::option::Option::Some(RecordChoiceView::Agreed(value)) => {
                    writer.agreed(value);
                }
                ::core::option::Option::Some(RecordChoiceView::SparePart(value)) => {
                    writer.spare_part(|writer| value.copy_to(writer));
                }
                ::core::option::Option::None => {}
            }
            match self.flag {
                ::core::option::Option::Some(RecordFlagView::NumberFlag(value)) => {
                    writer.number_flag(value);
                }
                ::core::option::Option::Some(RecordFlagView::BoolFlag(value)) => {
                    writer.bool_flag(value);
                }
                ::core::option::Option::None => {}
            }
        }
    }
    /// Writes a `every.v1.Record` in place.
    #[derive(Debug)]
    pub struct RecordWriter<'w>(&'w mut ::std::vec::Vec<u8>);
    impl<'w> support::MessageWriter<'w> for RecordWriter<'w> {
        #[inline]
        fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {
            Self(output)
        }
    }
    impl RecordWriter<'_> {
        /// Writes `a_double`.
        #[inline]
        pub fn a_double(&mut self, value: f64) -> &mut Self {
            support::put_number::<support::Double>(self.0, 9, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_float`.
        #[inline]
        pub fn a_float(&mut self, value: f32) -> &mut Self {
            support::put_number::<support::Float>(self.0, 21, value, support::Presence::Implicit);
            self
        }
        /// Writes `an_int32`.
        #[inline]
        pub fn an_int32(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Int32>(self.0, 24, value, support::Presence::Implicit);
            self
        }
        /// Writes `an_int64`.
        #[inline]
        pub fn an_int64(&mut self, value: i64) -> &mut Self {
            support::put_number::<support::Int64>(self.0, 32, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_uint32`.
        #[inline]
        pub fn a_uint32(&mut self, value: u32) -> &mut Self {
            support::put_number::<support::Uint32>(self.0, 40, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_uint64`.
        #[inline]
        pub fn a_uint64(&mut self, value: u64) -> &mut Self {
            support::put_number::<support::Uint64>(self.0, 48, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_sint32`.
        #[inline]
        pub fn a_sint32(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Sint32>(self.0, 56, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_sint64`.
        #[inline]
        pub fn a_sint64(&mut self, value: i64) -> &mut Self {
            support::put_number::<support::Sint64>(self.0, 64, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_fixed32`.
        #[inline]
        pub fn a_fixed32(&mut self, value: u32) -> &mut Self {
            support::put_number::<support::Fixed32>(self.0, 77, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_fixed64`.
        #[inline]
        pub fn a_fixed64(&mut self, value: u64) -> &mut Self {
            support::put_number::<support::Fixed64>(self.0, 81, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_sfixed32`.
        #[inline]
        pub fn a_sfixed32(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Sfixed32>(self.0, 93, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_sfixed64`.
        #[inline]
        pub fn a_sfixed64(&mut self, value: i64) -> &mut Self {
            support::put_number::<support::Sfixed64>(self.0, 97, value, support::Presence::Implicit);
            self
        }
        /// Writes `a_bool`.
        #[inline]
        pub fn a_bool(&mut self, value: bool) -> &mut Self {
            support::put_number::<support::Bool>(self.0, 104, value, support::Presence::Implicit);
            self
        }
        /// Writes `r#type`.
        #[inline]
        pub fn r#type(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 114, value, support::Presence::Implicit);
            self
        }
        /// Writes `blob`.
        #[inline]
        pub fn blob(&mut self, value: &[u8]) -> &mut Self {
            support::put_bytes(self.0, 122, value, support::Presence::Implicit);
            self
        }
        /// Writes `color`.
        #[inline]
        pub fn color(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Int32>(self.0, 128, value, support::Presence::Implicit);
            self
        }
        /// Writes `part`.
        #[inline]
        pub fn part(&mut self, write: impl ::core::ops::FnOnce(&mut RecordPartWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 138, |output| write(&mut RecordPartWriter(output)));
            self
        }
        /// Writes `maybe_number`.
        #[inline]
        pub fn maybe_number(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Int32>(self.0, 144, value, support::Presence::Explicit);
            self
        }
        /// Writes `maybe_text`.
        #[inline]
        pub fn maybe_text(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 154, value, support::Presence::Explicit);
            self
        }
        /// Writes `note`.
        #[inline]
        pub fn note(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 162, value, support::Presence::Explicit);
            self
        }
        /// Writes `agreed`.
        #[inline]
        pub fn agreed(&mut self, value: bool) -> &mut Self {
            support::put_number::<support::Bool>(self.0, 168, value, support::Presence::Explicit);
            self
        }
        /// Writes `spare_part`.
        #[inline]
        pub fn spare_part(&mut self, write: impl ::core::ops::FnOnce(&mut RecordPartWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 178, |output| write(&mut RecordPartWriter(output)));
            self
        }
        /// Adds one to `names`.
        #[inline]
        pub fn names(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 186, value, support::Presence::Explicit);
            self
        }
        /// Adds one to `blobs`.
        #[inline]
        pub fn blobs(&mut self, value: &[u8]) -> &mut Self {
            support::put_bytes(self.0, 194, value, support::Presence::Explicit);
            self
        }
        /// Adds one to `parts`.
        #[inline]
        pub fn parts(&mut self, write: impl ::core::ops::FnOnce(&mut RecordPartWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 202, |output| write(&mut RecordPartWriter(output)));
            self
        }
        /// Writes `numbers`.
        #[inline]
        pub fn numbers(&mut self, values: impl ::core::iter::IntoIterator<Item = i32>) -> &mut Self {
            support::put_numbers::<support::Sint32>(self.0, 210, values);
            self
        }
        /// Writes `doubles`.
        #[inline]
        pub fn doubles(&mut self, values: impl ::core::iter::IntoIterator<Item = f64>) -> &mut Self {
            support::put_numbers::<support::Double>(self.0, 218, values);
            self
        }
        /// Writes `colors`.
        #[inline]
        pub fn colors(&mut self, values: impl ::core::iter::IntoIterator<Item = i32>) -> &mut Self {
            support::put_numbers::<support::Int32>(self.0, 226, values);
            self
        }
        /// Adds one to `by_name`.
        #[inline]
        pub fn by_name(&mut self, write: impl ::core::ops::FnOnce(&mut RecordByNameEntryWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 234, |output| write(&mut RecordByNameEntryWriter(output)));
            self
        }
        /// Writes `nothing`.
        #[inline]
        pub fn nothing(&mut self, write: impl ::core::ops::FnOnce(&mut RecordNothingWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 242, |output| write(&mut RecordNothingWriter(output)));
            self
        }
        /// Writes `number_flag`.
        #[inline]
        pub fn number_flag(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Int32>(self.0, 248, value, support::Presence::Explicit);
            self
        }
        /// Writes `bool_flag`.
        #[inline]
        pub fn bool_flag(&mut self, value: bool) -> &mut Self {
            support::put_number::<support::Bool>(self.0, 256, value, support::Presence::Explicit);
            self
        }
        /// Writes `far`.
        #[inline]
        pub fn far(&mut self, value: i32) -> &mut Self {
            support::put_number::<support::Int32>(self.0, 8000, value, support::Presence::Implicit);
            self
        }
    }
    /// `every.v1.Record.ByNameEntry`, read in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RecordByNameEntryView<'a> {
        /// `key`.
        pub key: &'a str,
        /// `value`.
        pub value: ::core::option::Option<RecordPartView<'a>>,
    }
    impl<'a> support::MessageView<'a> for RecordByNameEntryView<'a> {
        #[inline]
        fn field(
            &mut self,
            key: u32,
            fields: &mut support::FieldReader<'a>,
        ) -> ::core::result::Result<(), support::NotInPlace> {
            match key {
                10 => self.key = fields.read::<support::Utf8>()?,
                18 => fields.once::<RecordPartView<'a>>(&mut self.value)?,
                _ => fields.skip(key, &[1, 2])?,
            }
            ::core::result::Result::Ok(())
        }
    }
    impl RecordByNameEntryView<'_> {
        /// Writes all fields.
        pub fn copy_to(&self, writer: &mut RecordByNameEntryWriter<'_>) {
            writer.key(self.key);
            if let ::core::option::Option::Some(value) = self.value {
                writer.value(|writer| value.copy_to(writer));
            }
        }
    }
    /// Writes a `every.v1.Record.ByNameEntry` in place.
    #[derive(Debug)]
    pub struct RecordByNameEntryWriter<'w>(&'w mut ::std::vec::Vec<u8>);
    impl<'w> support::MessageWriter<'w> for RecordByNameEntryWriter<'w> {
        #[inline]
        fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {
            Self(output)
        }
    }
    impl RecordByNameEntryWriter<'_> {
        /// Writes `key`.
        #[inline]
        pub fn key(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 10, value, support::Presence::Implicit);
            self
        }
        /// Writes `value`.
        #[inline]
        pub fn value(&mut self, write: impl ::core::ops::FnOnce(&mut RecordPartWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 18, |output| write(&mut RecordPartWriter(output)));
            self
        }
    }
    /// `every.v1.Record.Nothing`, read in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RecordNothingView<'a> {
        _lifetime: ::core::marker::PhantomData<&'a ()>,
    }
    impl<'a> support::MessageView<'a> for RecordNothingView<'a> {
        #[inline]
        fn field(
            &mut self,
            key: u32,
            fields: &mut support::FieldReader<'a>,
        ) -> ::core::result::Result<(), support::NotInPlace> {
            match key {
                _ => fields.skip(key, &[])?,
            }
            ::core::result::Result::Ok(())
        }
    }
    impl RecordNothingView<'_> {
        /// Writes all fields.
        pub fn copy_to(&self, writer: &mut RecordNothingWriter<'_>) {
            let _ = writer;
        }
    }
    /// Writes a `every.v1.Record.Nothing` in place.
    #[derive(Debug)]
    pub struct RecordNothingWriter<'w>(&'w mut ::std::vec::Vec<u8>);
    impl<'w> support::MessageWriter<'w> for RecordNothingWriter<'w> {
        #[inline]
        fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {
            Self(output)
        }
    }
    impl RecordNothingWriter<'_> {
    }
    /// `every.v1.Record.Part`, read in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RecordPartView<'a> {
        /// `label`.
        pub label: &'a str,
        /// `leaves`.
        pub leaves: support::Repeated<'a, RecordPartLeafView<'a>>,
    }
    impl<'a> support::MessageView<'a> for RecordPartView<'a> {
        #[inline]
        fn field(
            &mut self,
            key: u32,
            fields: &mut support::FieldReader<'a>,
        ) -> ::core::result::Result<(), support::NotInPlace> {
            match key {
                10 => self.label = fields.read::<support::Utf8>()?,
                18 => self.leaves.note(key, fields)?,
                _ => fields.skip(key, &[1, 2])?,
            }
            ::core::result::Result::Ok(())
        }
    }
    impl RecordPartView<'_> {
        /// Writes all fields.
        pub fn copy_to(&self, writer: &mut RecordPartWriter<'_>) {
            writer.label(self.label);
            for value in self.leaves {
                writer.leaves(|writer| value.copy_to(writer));
            }
        }
    }
    /// Writes a `every.v1.Record.Part` in place.
    #[derive(Debug)]
    pub struct RecordPartWriter<'w>(&'w mut ::std::vec::Vec<u8>);
    impl<'w> support::MessageWriter<'w> for RecordPartWriter<'w> {
        #[inline]
        fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {
            Self(output)
        }
    }
    impl RecordPartWriter<'_> {
        /// Writes `label`.
        #[inline]
        pub fn label(&mut self, value: impl support::Text) -> &mut Self {
            support::put_text(self.0, 10, value, support::Presence::Implicit);
            self
        }
        /// Adds one to `leaves`.
        #[inline]
        pub fn leaves(&mut self, write: impl ::core::ops::FnOnce(&mut RecordPartLeafWriter<'_>)) -> &mut Self {
            support::put_message(self.0, 18, |output| write(&mut RecordPartLeafWriter(output)));
            self
        }
    }
    /// `every.v1.Record.Part.Leaf`, read in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RecordPartLeafView<'a> {
        /// `lifetime`.
        pub lifetime: u32,
        _lifetime: ::core::marker::PhantomData<&'a ()>,
    }
    impl<'a> support::MessageView<'a> for RecordPartLeafView<'a> {
        #[inline]
        fn field(
            &mut self,
            key: u32,
            fields: &mut support::FieldReader<'a>,
        ) -> ::core::result::Result<(), support::NotInPlace> {
            match key {
                8 => self.lifetime = fields.read::<support::Uint32>()?,
                _ => fields.skip(key, &[1])?,
            }
            ::core::result::Result::Ok(())
        }
    }
    impl RecordPartLeafView<'_> {
        /// Writes all fields.
        pub fn copy_to(&self, writer: &mut RecordPartLeafWriter<'_>) {
            writer.lifetime(self.lifetime);
        }
    }
    /// Writes a `every.v1.Record.Part.Leaf` in place.
    #[derive(Debug)]
    pub struct RecordPartLeafWriter<'w>(&'w mut ::std::vec::Vec<u8>);
    impl<'w> support::MessageWriter<'w> for RecordPartLeafWriter<'w> {
        #[inline]
        fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {
            Self(output)
        }
    }
    impl RecordPartLeafWriter<'_> {
        /// Writes `lifetime`.
        #[inline]
        pub fn lifetime(&mut self, value: u32) -> &mut Self {
            support::put_number::<support::Uint32>(self.0, 8, value, support::Presence::Implicit);
            self
        }
    }
}
